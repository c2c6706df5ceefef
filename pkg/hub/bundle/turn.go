package bundle

import (
	"errors"
	"time"

	"k8s.io/utils/clock"
)

// renderTime is how long the bundle is rendered for one plan. Templates can take a tenth of
// a second on each of thousands of clusters, and the workers are there for all tenants.
const renderTime = 5 * time.Second

// errLater is for a cluster that the bundle is not rendered for yet.
var errLater = errors.New("the templates of the bundle take long: it is rendered for this cluster when its turn comes")

// turn is what one plan may render. What is left comes with the next one: what was rendered
// before is kept until the bundle or the cluster changes.
type turn struct {
	clock clock.PassiveClock
	began time.Time
	taken bool
	// over is true once something was left.
	over bool
}

func newTurn(c clock.PassiveClock) *turn { return &turn{clock: c, began: c.Now()} }

// take tells whether one cluster more may be rendered for; the first always is, so that
// each turn comes to something.
func (t *turn) take() bool {
	if t.taken && t.clock.Since(t.began) > renderTime {
		t.over = true
		return false
	}
	t.taken = true
	return true
}
