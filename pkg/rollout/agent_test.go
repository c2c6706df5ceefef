package rollout

import (
	"time"
)

// outcome is how an agent fares with an id.
type outcome struct {
	kind  string // ok, never, error, retry, waits
	ready time.Duration
}

type simCluster struct {
	Cluster
	groups map[string]string // by lane
	labels bool              // a target selects it
	cut    bool              // its network is dead, noticed or not
	// what the agent has, and what it said last.
	admission, id string
	min           time.Duration
	since         time.Time
	readyAt       time.Time
	said          Verdict
	kind          string
	skew          time.Duration
	leaseRead     string
	changes       int
	lease         int
}

func (s *sim) outcome(id, cluster string) outcome {
	for _, key := range []string{id + " " + cluster, id} {
		if o, ok := s.outcomes[key]; ok {
			return o
		}
	}
	return outcome{kind: "ok", ready: 3 * time.Second}
}

// work is the agent's second: it takes the work over and reports, if the network
// lets it.
func (c *simCluster) work(s *sim) (changed bool) {
	if c.Work == nil {
		c.admission, c.said = "", Verdict{}
		return false
	}
	if !c.cut {
		if s.now.Second()%10 == 0 {
			c.lease++
		}
		if c.AddOn == AddOnPresent && c.admission != c.Work.Admission {
			c.admission, c.id, c.since, c.readyAt = c.Work.Admission, c.Work.ID, s.now, time.Time{}
			c.said = Verdict{Admission: c.admission}
		}
		c.min = c.Work.MinSuccessTime
	}
	if c.admission == "" {
		return false
	}
	c.judge(s)
	if c.cut || c.AddOn != AddOnPresent || c.Work.Verdict == c.said {
		return false
	}
	c.Work.Verdict = c.said
	return true
}

// judge is what the agent itself knows, with or without network.
func (c *simCluster) judge(s *sim) {
	o := s.outcome(c.id, c.Name)
	if c.kind != "" {
		o.kind = c.kind
	}
	v := Verdict{Admission: c.admission}
	age := s.now.Sub(c.since)
	switch o.kind {
	case "ok":
		v.Applied = age >= time.Second
		v.Ready = age >= o.ready
	case "never":
		v.Applied, v.Message = age >= time.Second, "Deployment web: 0 of 1 ready"
	case "error":
		v.Terminal, v.State, v.Message = age >= time.Second, "ErrApplied", "chart does not render"
	case "retry":
		v.State, v.Message = "ErrApplied", "connection refused"
	case "waits":
		v.Waiting, v.Message = true, "bundle app/db"
	}
	if !v.Ready {
		c.readyAt = time.Time{}
	} else {
		if c.readyAt.IsZero() {
			c.readyAt = s.now
			c.changes++
		}
		v.ReadySince = c.readyAt.Add(c.skew).Format(time.RFC3339)
		if s.now.Sub(c.readyAt) > c.min {
			v.Soaked, v.SoakedKnown = c.min, true
		}
	}
	c.said = v
}
