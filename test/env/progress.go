package env

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Progress is one line from a starting supervisor to Up; the last one has Done.
type Progress struct {
	Line  string `json:"line,omitempty"`
	Done  bool   `json:"done,omitempty"`
	Error string `json:"error,omitempty"`
}

// File descriptors that Up hands to the supervisor.
const (
	LockFD     = 3 // the lock, held as long as the supervisor lives
	LifelineFD = 4 // a pipe that closes when Up dies: the start is then given up
	ProgressFD = 5 // Progress, one JSON object a line
)

// ErrSupervisor says that the supervisor ended without a word.
var ErrSupervisor = errors.New("the supervisor ended during the start")

// follow prints progress until the supervisor is done.
func follow(progress io.Reader, out io.Writer) error {
	scanner := bufio.NewScanner(progress)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var p Progress
		if err := json.Unmarshal(scanner.Bytes(), &p); err != nil {
			return fmt.Errorf("progress of the supervisor: %w", err)
		}
		if p.Line != "" {
			fmt.Fprintln(out, p.Line)
		}
		if p.Error != "" {
			return errors.New(p.Error)
		}
		if p.Done {
			return nil
		}
	}
	return ErrSupervisor
}
