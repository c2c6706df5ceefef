package cli

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"open-cluster-management.io/fleet-addon/pkg/cli/groups"
)

// age is how long ago something was, as kubectl shows it.
func age(t, now time.Time) string { return duration.HumanDuration(max(0, now.Sub(t))) }

// clock is a time with what is left until then, or how long ago it was.
func clock(t, now time.Time) string {
	text := t.UTC().Format(time.RFC3339)
	if t.After(now) {
		return fmt.Sprintf("%s (in %s)", text, groups.Left(t, now))
	}
	return fmt.Sprintf("%s (%s ago)", text, age(t, now))
}
