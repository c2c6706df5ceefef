package cli

import (
	"errors"
	"fmt"
	"testing"
)

func TestStatusToEndWith(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want int
	}{
		"no error":              {nil, 0},
		"the answer is no":      {exitNo, 1},
		"under way":             {exitUnderWay, 2},
		"under way, wrapped":    {fmt.Errorf("rollout: %w", exitUnderWay), 2},
		"an error of any kind":  {errors.New("bad"), 3},
		"no beside an error":    {errors.Join(exitNo), 1},
		"an error that wraps 0": {fmt.Errorf("x: %w", errors.New("y")), 3},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ExitStatus(tc.err); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}

// TestExits: the table has every status once, and each means something.
func TestExits(t *testing.T) {
	for i, x := range Exits {
		if x.Status != i || x.Means == "" {
			t.Errorf("row %d is %+v", i, x)
		}
	}
	for _, exit := range []ExitError{exitNo, exitUnderWay, exitFailed} {
		if got := exit.Error(); got != Exits[exit].Means {
			t.Errorf("status %d says %q", exit, got)
		}
	}
}
