package main

import (
	"fmt"
	"strings"
)

// intention is a difference that is meant to be there.
type intention struct {
	// Case that has it; all cases if empty.
	Case string
	// Field that is different, and all below it.
	Field string
	// Reason is a sentence for who reads this list.
	Reason string
}

// intended are all of them. One that no case shows any more is an error: the list says how things are.
var intended = []intention{}

func (i intention) String() string {
	name := i.Case
	if name == "" {
		name = "any case"
	}
	return fmt.Sprintf("%s, %s (%s)", name, i.Field, i.Reason)
}

func (i intention) covers(d difference) bool {
	if i.Case != "" && i.Case != d.Case {
		return false
	}
	rest, ok := strings.CutPrefix(d.Field, i.Field)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// judge takes the intended differences out, and tells which intentions no difference showed.
func judge(list []intention, found []difference) (unintended []difference, stale []intention) {
	shown := make([]bool, len(list))
next:
	for _, d := range found {
		for n, i := range list {
			if i.covers(d) {
				shown[n] = true
				continue next
			}
		}
		unintended = append(unintended, d)
	}
	for n, i := range list {
		if !shown[n] {
			stale = append(stale, i)
		}
	}
	return unintended, stale
}
