package rollout

// saying is all that a sentence of a cluster under way depends on. After an admission
// thousands of clusters say the same, and it is put together once.
type saying struct {
	state          State
	progress       Reason
	message        string
	since, until   int64
	lease, overdue bool
	heard, endless bool
}

// sentenceOf is m.sentence(), remembered for the next cluster that says the same.
func (p *planner) sentenceOf(m *member) string {
	if m.why != (Hold{}) {
		return m.why.Sentence
	}
	var s saying
	switch m.state {
	case Soaking, Recovering:
		s = saying{state: m.state, since: m.stamps.ReadySeenAt.Unix(), until: m.until.Unix(), lease: m.wantsLease, overdue: m.overdue}
	case Progressing:
		v := m.Work.verdict()
		s = saying{state: m.state, progress: m.progress(), message: v.Message, until: m.until.Unix(), heard: v.Admission != "", endless: m.until.IsZero()}
		if s.progress == WorkRefused {
			s.message = m.Work.Refused
		}
	default:
		return m.sentence()
	}
	sentence, ok := p.said[s]
	if !ok {
		sentence = m.sentence()
		p.said[s] = sentence
	}
	return sentence
}
