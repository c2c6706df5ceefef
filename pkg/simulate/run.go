package simulate

import (
	"context"
	"fmt"
	"time"
)

// fineStep is the step of fleets of up to fineFleet clusters. Larger ones get one that
// grows with them: a plan costs what the fleet is large, and readiness that is spread
// over time would need one in every second.
const (
	fineStep  = time.Second
	fineFleet = 2000
	coarse    = 1000
)

// defaultStep is how finely time is cut unless somebody says: a second, or one for each
// thousand clusters where there are more than two thousand.
func (sc *Scenario) defaultStep() time.Duration {
	if n := len(sc.clusters); n > fineFleet {
		return fineStep * time.Duration((n+coarse-1)/coarse)
	}
	return fineStep
}

// Options of a run; what is zero is the files'.
type Options struct {
	Seed *int64
	// Until is where the simulation ends at the latest.
	Until time.Duration
	// Step that all times are rounded up to; 0 is one that goes with the number of
	// clusters.
	Step time.Duration
	// Progress, if not nil, is told of every moment.
	Progress func(Progress)
}

// Progress is how far a run is.
type Progress struct {
	// At is the simulated time.
	At          time.Duration
	Done, Total int
	Plans       int
}

// Run plays the scenario to its end. The same scenario, seed and step give the same
// report. The error is the context's, or a plan that never comes to rest.
func (sc *Scenario) Run(ctx context.Context, o Options) (*Report, error) {
	if o.Step <= 0 {
		o.Step = sc.defaultStep()
	}
	if o.Until <= 0 {
		o.Until = sc.until
	}
	s := begin(sc, o)
	end, err := s.run(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("simulate %s/%s: %w", sc.object.Namespace, sc.object.Name, err)
	}
	return s.summary(end), nil
}

// run goes from one event to the next, and plans only then or when the plan said so.
func (s *sim) run(ctx context.Context, o Options) (End, error) {
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		at, ok := s.queue.next()
		if s.recheck != 0 && (!ok || s.recheck < at) {
			at, ok = s.recheck, true
		}
		switch {
		case !ok:
			return s.atRest(), nil
		case at > o.Until:
			s.now = o.Until
			return s.cutOff(), nil
		}
		s.now = at
		s.queue.take(at)
		if s.revision == "" {
			// Nothing is committed yet: the hub only looks at the Placements.
			s.input()
			continue
		}
		if err := s.plan(); err != nil {
			return "", err
		}
		s.timeline.moment(s)
		s.down.count(s)
		if o.Progress != nil {
			o.Progress(Progress{At: s.now, Done: s.last.Counts.Done, Total: s.last.Counts.Total, Plans: s.plans})
		}
	}
}
