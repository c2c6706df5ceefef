// Package verdict decides what the agent says of an admission: applied, ready
// and since when, soaked, terminal. It is a pure function of the last status,
// of what was observed and of the time; the hub's rollout stands on it.
//
// readySince is a token that is set anew for every admission and after every
// loss of readiness. Over a restart of the agent readiness cannot be proved to
// have been unbroken: a soak that was not over begins again, with a new token;
// one that was over stays over, since it was proved before.
package verdict
