package cli

import (
	"fmt"
	"strings"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// title is the line that names a rollout and how far it is.
func title(r *v1alpha1.Rollout) string {
	s := r.Status
	line := fmt.Sprintf("%s/%s  revision %s", r.Namespace, r.Name, s.Revision)
	if s.Revision == "" {
		line = fmt.Sprintf("%s/%s  not planned yet: does the manager run?", r.Namespace, r.Name)
	}
	if s.Done != "" {
		line += "  " + s.Done + " done"
	}
	if s.Source != "" {
		line += "  by " + s.Source
	}
	return line
}

// head is what stands above a rollout's table: how far it is, and what people should
// know before they look at the groups.
func head(r *v1alpha1.Rollout) []string {
	s := r.Status
	lines := []string{title(r)}
	if s.ObservedGeneration < r.Generation {
		lines = append(lines, "The manager has not looked at the last change of the Rollout's spec yet.")
	}
	if message, pinned := isTrue(r, v1alpha1.RolloutPinned); pinned {
		lines = append(lines, "Pinned: "+message)
	}
	if s.Message != "" {
		lines = append(lines, s.Reason+": "+s.Message)
	}
	// The planner says many things with one sentence; once is enough here.
	told := map[string]bool{s.Message: true}
	for _, lane := range s.Lanes {
		if lane.Reason != "" && !told[lane.Message] {
			lines = append(lines, fmt.Sprintf("Held: lane %s: %s: %s", lane.Name, lane.Reason, lane.Message))
			told[lane.Message] = true
		}
	}
	for _, c := range s.Confirmations {
		if told[c.Message] {
			c.Message = ""
		}
		lines = append(lines, "To confirm: "+request(c))
	}
	if message, warned := isTrue(r, v1alpha1.RolloutWarning); warned {
		lines = append(lines, "Warning: "+message)
	}
	return lines
}

// request is one thing that waits for a person, in a line.
func request(c v1alpha1.ConfirmationRequest) string {
	line := c.Reason
	if c.Subject != "" {
		line += " " + c.Subject
	}
	if c.Message != "" {
		line += ": " + c.Message
	}
	return line
}

// omitted says how many groups the status does not list; "" if it has all.
func omitted(r *v1alpha1.Rollout) string {
	var parts []string
	for _, lane := range r.Status.Lanes {
		if lane.GroupsOmitted > 0 {
			parts = append(parts, fmt.Sprintf("%d more groups of lane %s", lane.GroupsOmitted, lane.Name))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Not listed, because the Rollout's status would be too large: " + strings.Join(parts, ", ")
}
