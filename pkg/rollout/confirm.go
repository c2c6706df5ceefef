package rollout

import (
	"fmt"
	"strings"
)

// agreed tells whether a person confirmed one thing for this revision.
func (p *planner) agreed(reason Reason, subject string) bool {
	for i := range p.in.Confirmations {
		c := &p.in.Confirmations[i]
		if c.Reason == reason && c.Subject == subject && c.Revision == p.in.Revision {
			return true
		}
	}
	return false
}

// confirmCommand shows what waits, and asks.
func (p *planner) confirmCommand() string {
	namespace, name, _ := strings.Cut(p.in.Bundle, "/")
	return fmt.Sprintf("fleetctl rollout confirm %s -n %s", name, namespace)
}
