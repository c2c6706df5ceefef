package simulate

import (
	"container/heap"
	"time"
)

// event is something that happens at a time; events of one time happen in the order
// in which they were planned.
type event struct {
	at    time.Duration
	order int
	do    func()
}

// queue are the events to come.
type queue struct {
	events []event
	orders int
}

// schedule adds an event.
func (q *queue) schedule(at time.Duration, do func()) {
	q.orders++
	heap.Push(q, event{at, q.orders, do})
}

// next is the time of the first event; ok is false if there is none.
func (q *queue) next() (at time.Duration, ok bool) {
	if len(q.events) == 0 {
		return 0, false
	}
	return q.events[0].at, true
}

// take runs every event up to a time, those that they add included.
func (q *queue) take(until time.Duration) {
	for len(q.events) > 0 && q.events[0].at <= until {
		e, _ := heap.Pop(q).(event)
		e.do()
	}
}

// Len, Less, Swap, Push and Pop are heap.Interface.
func (q *queue) Len() int { return len(q.events) }

func (q *queue) Less(i, j int) bool {
	a, b := &q.events[i], &q.events[j]
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (q *queue) Swap(i, j int) { q.events[i], q.events[j] = q.events[j], q.events[i] }

func (q *queue) Push(x any) {
	if e, ok := x.(event); ok {
		q.events = append(q.events, e)
	}
}

func (q *queue) Pop() any {
	last := len(q.events) - 1
	e := q.events[last]
	q.events[last] = event{}
	q.events = q.events[:last]
	return e
}
