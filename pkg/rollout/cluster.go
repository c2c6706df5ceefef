package rollout

// reason is the one word for the cluster's state.
func (m *member) reason() Reason {
	if m.why != (Hold{}) {
		return m.why.Reason
	}
	switch m.state {
	case Done:
		return Complete
	case Soaking, Recovering:
		return SoakingReason
	case Failed:
		if m.RenderError != "" {
			return RenderFailed
		}
		return DeployFailed
	case TimedOut:
		return DeadlineExceeded
	case Progressing:
		return m.progress()
	case Pending:
	}
	return InProgress
}

// progress is what an admitted cluster without success is at.
func (m *member) progress() Reason {
	v := m.Work.verdict()
	switch {
	case m.AddOn == AddOnMissing || m.AddOn == AddOnDeleting:
		return AddOnNotInstalled
	case !m.Available:
		return Offline
	case m.Work.Refused != "":
		return WorkRefused
	case v.Waiting:
		return WaitingForDependency
	case !v.Applied && v.State == string(ShownErrApplied):
		return Retrying
	}
	return NotReady
}

// sentence explains the reason.
func (m *member) sentence() string {
	if m.why != (Hold{}) {
		return m.why.Sentence
	}
	switch m.state {
	case Done:
		return "ready"
	case Soaking, Recovering:
		return m.soakSentence()
	case Failed:
		if m.RenderError != "" {
			return short(m.RenderError)
		}
		return short("failed: " + m.Work.verdict().Message)
	case TimedOut:
		return "not ready in time, since " + clock(m.stamps.FailedAt) + ": " + m.progressSentence()
	case Progressing:
		if m.until.IsZero() {
			return m.progressSentence()
		}
		return m.progressSentence() + "; counts as failed at " + clock(m.until)
	case Pending:
	}
	return ""
}

func (m *member) soakSentence() string {
	word := "ready"
	if m.state == Recovering {
		word = "failed before and ready again"
	}
	word += " since " + clock(m.stamps.ReadySeenAt)
	switch {
	case m.wantsLease:
		return word + ", waiting for a sign of life from the cluster after " + clock(m.until)
	case m.overdue:
		return word + ", soaked until " + clock(m.until) + ", waiting for the cluster to confirm it"
	}
	return word + ", soaking until " + clock(m.until)
}

func (m *member) progressSentence() string {
	v := m.Work.verdict()
	switch m.progress() {
	case AddOnNotInstalled:
		return "the add-on is not installed on the cluster"
	case Offline:
		return "the cluster is not available"
	case WorkRefused:
		return short("the cluster refused the work: " + m.Work.Refused)
	case WaitingForDependency:
		return short("waiting for a dependency: " + v.Message)
	case Retrying:
		return short("retrying after an error: " + v.Message)
	default:
	}
	if v.Message != "" {
		return short("not ready: " + v.Message)
	}
	if v.Admission == "" {
		return "waiting for the cluster's first word"
	}
	return "not ready yet"
}

// shown is the state in Fleet's words.
func (m *member) shown() Shown {
	v := m.Work.verdict()
	switch {
	case m.Work == nil:
		if m.state == Failed {
			return ShownErrApplied
		}
		return ShownPending
	case m.state == Pending:
		return ShownOutOfSync
	case m.state == Failed:
		return ShownErrApplied
	case m.success && v.State == string(ShownModified):
		return ShownModified
	case m.success:
		return ShownReady
	case !m.Available:
		return ShownNotReady
	case v.Waiting:
		return ShownWaiting
	case !v.Applied && v.State == string(ShownErrApplied):
		return ShownErrApplied
	case !v.Applied:
		return ShownWaitApplied
	}
	return ShownNotReady
}
