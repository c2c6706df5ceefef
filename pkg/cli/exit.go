package cli

import (
	"errors"
	"fmt"
	"strings"
)

// Exit is a status that fleetctl ends with.
type Exit struct {
	Status int
	Means  string
}

// Exits are all of them, with what each means for every command.
var Exits = []Exit{
	{0, "done; a rollout is complete; nothing differs"},
	{1, "the answer is no: a rollout is stopped by failures, something differs, no target matches"},
	{2, "a rollout is under way, held or paused"},
	{3, "an error: a mistake in the command line or a file, a missing right, no cluster"},
}

// Exit statuses that tell an answer, beside 0 for yes and 3 for an error.
const (
	exitNo       = ExitError(1)
	exitUnderWay = ExitError(2)
	exitFailed   = 3
)

// ExitError ends fleetctl with a status that a script can tell apart. What there is to
// say has been printed.
type ExitError int

func (e ExitError) Error() string {
	for _, x := range Exits {
		if x.Status == int(e) {
			return x.Means
		}
	}
	return fmt.Sprintf("exit status %d", int(e))
}

// ExitStatus is the status to end with after a command returned err.
func ExitStatus(err error) int {
	var exit ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	}
	return exitFailed
}

// exitTable is the list of statuses in the help.
func exitTable() string {
	var out strings.Builder
	for _, x := range Exits {
		fmt.Fprintf(&out, "  %d  %s\n", x.Status, x.Means)
	}
	return strings.TrimRight(out.String(), "\n")
}
