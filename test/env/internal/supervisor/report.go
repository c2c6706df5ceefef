package supervisor

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	env "open-cluster-management.io/fleet-addon/test/env"
)

// reporter writes the supervisor's log, and tells whoever waits for the start how it goes.
type reporter struct {
	mu       sync.Mutex
	progress io.WriteCloser
	start    time.Time
}

// logf writes to the log, which is standard error.
func (r *reporter) logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s %s\n", time.Now().Format("2006-01-02T15:04:05.000Z07:00"), fmt.Sprintf(format, args...))
}

// step tells about one step of the start.
func (r *reporter) step(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	r.logf("%s", line)
	r.send(env.Progress{Line: fmt.Sprintf("start: %5.1fs %s", time.Since(r.start).Seconds(), line)}, false)
}

func (r *reporter) done()          { r.send(env.Progress{Done: true}, true) }
func (r *reporter) fail(err error) { r.send(env.Progress{Error: err.Error()}, true) }

func (r *reporter) send(p env.Progress, last bool) {
	data, err := json.Marshal(p)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.progress == nil {
		return
	}
	_, _ = r.progress.Write(append(data, '\n')) // the reader may be gone; the lifeline says so
	if last {
		r.progress.Close()
		r.progress = nil
	}
}
