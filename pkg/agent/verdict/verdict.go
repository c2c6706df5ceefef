package verdict

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// States in Fleet's words.
const (
	StateWaitApplied = "WaitApplied"
	StateErrApplied  = "ErrApplied"
	StateNotReady    = "NotReady"
	StateReady       = "Ready"
)

// Reasons of the conditions Deployed and Ready.
const (
	ReasonDeployed = "Deployed"
	ReasonReady    = "Ready"
	ReasonNotReady = "NotReady"
	ReasonFailed   = "Failed"
	ReasonRetrying = "Retrying"
	ReasonWaiting  = "Waiting"
)

const (
	// maxMessage bounds every message, in bytes.
	maxMessage = 1024
	// tokenFormat of readySince: RFC 3339 with microseconds.
	tokenFormat = "2006-01-02T15:04:05.000000Z07:00"
	// late is how much later than due a soak is reported, so that the hub, whose
	// clock decides, does not see it before its own time is over.
	late = time.Second
)

// Observation is what the agent sees of a BundleDeployment and of its release.
type Observation struct {
	Generation     int64
	Admission      string
	MinSuccessTime time.Duration

	// DeployedID and Release ("namespace/name:revision") are of the release that is
	// there, of whatever admission; empty if there is none.
	DeployedID, Release string
	// Applied is true if it is the one of this admission.
	Applied bool
	// Objects and NotReady count its objects; Listed are some of the latter.
	Objects, NotReady int
	Listed            []v1alpha1.ObjectState
	// Breaks changes whenever an object was not ready, also if nobody looked then.
	Breaks uint64
	// Err is what is in the way of deploying, classified by package fault.
	Err error
}

// Memory is what this process itself saw of a release: since when it has been
// ready without a break. Its zero value is right after a start.
type Memory struct {
	admission, token string
	since            time.Time
	breaks           uint64
}

// of tells whether this process saw the readiness begin that a token stands for.
func (m Memory) of(admission, token string) bool {
	return m.admission == admission && m.token == token
}

// Next returns the status that follows on prev, what to remember, and after how
// long time alone will change the status; zero if never.
func Next(prev v1alpha1.BundleDeploymentStatus, mem Memory, o Observation, now time.Time) (v1alpha1.BundleDeploymentStatus, Memory, time.Duration) {
	same := prev.Admission == o.Admission
	stuck := same && prev.Terminal
	next := v1alpha1.BundleDeploymentStatus{
		ObservedGeneration:  o.Generation,
		Admission:           o.Admission,
		AppliedDeploymentID: o.DeployedID,
		Release:             o.Release,
		Resources:           int32(o.Objects),
		Terminal:            stuck || o.Err != nil && fault.KindOf(o.Err) == fault.Terminal,
	}
	next.Applied = o.Applied && !next.Terminal
	next.Ready = next.Applied && o.NotReady == 0
	if next.Applied {
		next.NonReady = o.Listed
	}
	var reason string
	next.State, reason, next.Message = explain(next, o)
	if stuck {
		next.Message = prev.Message
	}
	next.Message = fault.Cut(next.Message, maxMessage)

	var recheck time.Duration
	if next.Ready {
		mem, recheck = soak(&next, prev, mem, o, now)
	} else {
		mem = Memory{}
	}
	next.Conditions = conditions(prev.Conditions, next, reason, now)
	return next, mem, recheck
}

// soak sets readySince and soaked of a status that is ready.
func soak(next *v1alpha1.BundleDeploymentStatus, prev v1alpha1.BundleDeploymentStatus, mem Memory, o Observation, now time.Time) (Memory, time.Duration) {
	unbroken := prev.Ready && prev.Admission == o.Admission && prev.ReadySince != ""
	need := o.MinSuccessTime
	if need > 0 {
		need += late
	}
	seen := mem.of(o.Admission, prev.ReadySince)
	switch {
	case unbroken && seen && mem.breaks == o.Breaks:
	case unbroken && !seen && over(prev.Soaked, o.MinSuccessTime):
		mem = Memory{admission: o.Admission, token: prev.ReadySince, since: now.Add(-need), breaks: o.Breaks}
	default:
		mem = Memory{admission: o.Admission, token: newToken(now, prev.ReadySince), since: now, breaks: o.Breaks}
	}
	next.ReadySince = mem.token
	// The monotonic clock: a step of the wall clock makes no soak shorter.
	elapsed := now.Sub(mem.since)
	if elapsed < need {
		return mem, need - elapsed
	}
	next.Soaked = o.MinSuccessTime.String()
	return mem, 0
}

// over tells whether a soak that was judged with one minSuccessTime is enough
// for another.
func over(soaked string, minSuccessTime time.Duration) bool {
	d, err := time.ParseDuration(soaked)
	return err == nil && d >= minSuccessTime
}

func newToken(now time.Time, last string) string {
	token := now.UTC().Format(tokenFormat)
	if token == last {
		token = now.UTC().Add(time.Microsecond).Format(tokenFormat)
	}
	return token
}

// explain returns the state, the reason of the conditions that are not True, and
// the message.
func explain(next v1alpha1.BundleDeploymentStatus, o Observation) (state, reason, message string) {
	if o.Err != nil {
		message = o.Err.Error()
	}
	switch {
	case next.Terminal:
		return StateNotReady, ReasonFailed, message
	case next.Ready:
		return StateReady, ReasonReady, ""
	case next.Applied:
		return StateNotReady, ReasonNotReady, notReady(o)
	case o.Err == nil:
		return StateWaitApplied, ReasonWaiting, "the release of this admission is not deployed yet"
	case fault.KindOf(o.Err) == fault.Waiting:
		return StateWaitApplied, ReasonWaiting, message
	}
	return StateErrApplied, ReasonRetrying, message
}

func notReady(o Observation) string {
	text := fmt.Sprintf("%d of %d objects are not ready", o.NotReady, o.Objects)
	if len(o.Listed) == 0 {
		return text
	}
	first := o.Listed[0]
	name := first.Name
	if first.Namespace != "" {
		name = first.Namespace + "/" + name
	}
	return fmt.Sprintf("%s: %s %s %s: %s", text, first.Kind, name, first.State, first.Message)
}

func conditions(prev []metav1.Condition, s v1alpha1.BundleDeploymentStatus, reason string, now time.Time) []metav1.Condition {
	var out []metav1.Condition
	for _, c := range prev {
		if c.Type == v1alpha1.BundleDeploymentDeployed || c.Type == v1alpha1.BundleDeploymentReady {
			out = append(out, c)
		}
	}
	set := func(kind string, is bool, trueReason string) {
		c := metav1.Condition{
			Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: s.Message,
			ObservedGeneration: s.ObservedGeneration, LastTransitionTime: metav1.NewTime(now),
		}
		if is {
			c.Status, c.Reason, c.Message = metav1.ConditionTrue, trueReason, ""
		}
		meta.SetStatusCondition(&out, c)
	}
	set(v1alpha1.BundleDeploymentDeployed, s.Applied, ReasonDeployed)
	set(v1alpha1.BundleDeploymentReady, s.Ready, ReasonReady)
	return out
}
