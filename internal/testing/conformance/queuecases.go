package conformance

import (
	"fmt"
	"slices"
	"strings"
)

type queueCase = testCase[func() Queue]

var queueCases = []queueCase{
	{"a key's deltas come in order, keys in that of their first", func(p *caseT, open func() Queue) {
		// DF-1, DF-2, RF-1
		q := open()
		p.succeeds(q.Add(object("a@1")))
		p.succeeds(q.Add(object("b@2")))
		p.succeeds(q.Update(object("a@3")))
		p.takes(q, "a: Added@1 Updated@3", "b: Added@2")
	}},
	{"a key that is delivered again goes to the tail", func(p *caseT, open func() Queue) { // DF-14
		q := open()
		p.succeeds(q.Add(object("a@1")))
		p.succeeds(q.Add(object("b@2")))
		p.take(q)
		p.succeeds(q.Update(object("b@3")))
		p.succeeds(q.Update(object("a@4")))
		p.takes(q, "b: Updated@3", "a: Updated@4")
	}},
	{"two deletes in a row are one", func(p *caseT, open func() Queue) { // DF-3
		q := open()
		p.succeeds(q.Add(object("a@1")))
		p.succeeds(q.Delete(object("a@2")))
		p.succeeds(q.Delete(object("a@3")))
		p.takes(q, "a: Added@1 Deleted@2")
	}},
	{"nothing else is merged", func(p *caseT, open func() Queue) { // DF-3
		q := open()
		p.succeeds(q.Add(object("a@1")))
		p.succeeds(q.Update(object("a@2")))
		p.succeeds(q.Update(object("a@3")))
		p.succeeds(q.Delete(object("a@4")))
		p.succeeds(q.Add(object("a@5")))
		p.takes(q, "a: Added@1 Updated@2 Updated@3 Deleted@4 Added@5")
	}},
	{"a key that is busy does not fill the memory", func(p *caseT, open func() Queue) { // DF-3
		q := open()
		for version := range 1000 {
			p.succeeds(q.Update(object(fmt.Sprintf("a@%d", version+1))))
		}
		stacks := p.take(q)
		p.must(len(stacks) == 1 && strings.HasSuffix(string(stacks[0]), " Updated@1000"), "the newest delta is missing")
		deltas := strings.Count(string(stacks[0]), "@")
		p.must(deltas <= 100, "%d deltas are kept", deltas)
	}},
	{"the delete of an unknown object is dropped", func(p *caseT, open func() Queue) {
		// DF-6, RF-3, D16
		q := open()
		p.succeeds(q.Delete(object("ghost@1")))
		p.succeeds(q.Add(object("a@2")))
		p.takes(q, "a: Added@2")
	}},
	{"the delete of a pending object is queued", func(p *caseT, open func() Queue) { // DF-7
		q := open()
		p.succeeds(q.Add(object("a@1")))
		p.succeeds(q.Delete(object("a@2")))
		p.takes(q, "a: Added@1 Deleted@2")
	}},
	{"a replace queues what it lists", func(p *caseT, open func() Queue) { // DF-17
		q := open()
		p.succeeds(q.Replace(objects("b@1", "a@2"), "2"))
		p.takes(q, "b: Replaced@1", "a: Replaced@2")
	}},
	{"a replace deletes what only the consumer has", func(p *caseT, open func() Queue) { // DF-19
		q := p.populated(open, "a@1", "b@2")
		p.succeeds(q.Replace(nil, "3"))
		p.takesSorted(q, "a: Deleted?@1", "b: Deleted?@2") // DF-20
	}},
	{"a replace deletes what is pending, with its newest state", func(p *caseT, open func() Queue) {
		// DF-18
		q := p.populated(open, "a@1")
		p.succeeds(q.Update(object("a@2")))
		p.succeeds(q.Add(object("b@3")))
		p.succeeds(q.Replace(nil, "4"))
		p.takesSorted(q, "a: Updated@2 Deleted?@2", "b: Added@3 Deleted?@3")
	}},
	{"a replace does not delete twice", func(p *caseT, open func() Queue) { // DF-18, RF-9
		q := p.populated(open, "a@1")
		p.succeeds(q.Delete(object("a@2")))
		p.succeeds(q.Replace(nil, "3"))
		p.takes(q, "a: Deleted@2")
	}},
	{"a replace creates again what is deleted", func(p *caseT, open func() Queue) { // DF-17, RF-10
		q := p.populated(open, "a@1")
		p.succeeds(q.Delete(object("a@2")))
		p.succeeds(q.Replace(objects("a@3"), "3"))
		p.takes(q, "a: Deleted@2 Replaced@3")
	}},
	{"a replace queues existing objects before deletions", func(p *caseT, open func() Queue) {
		// RF-8, PD-6
		q := p.populated(open, "a@1")
		p.succeeds(q.Replace(objects("b@2"), "2"))
		p.takes(q, "b: Replaced@2", "a: Deleted?@1")
	}},
	{"a resync is about what is known and not pending", func(p *caseT, open func() Queue) {
		// DF-23, RF-13
		q := p.populated(open, "a@1", "b@2")
		p.succeeds(q.Update(object("b@3")))
		p.succeeds(q.Resync())
		p.takesSorted(q, "a: Sync@1", "b: Updated@3")
	}},
	{"a close hands out the rest", func(p *caseT, open func() Queue) { // DF-13, RF-7
		q := open()
		p.succeeds(q.Add(object("a@1")))
		q.Close()
		q.Close()
		p.takes(q, "a: Added@1")
		stacks, closed := q.Take()
		p.must(closed && len(stacks) == 0, "the queue is not closed, and returned %v", stacks)
	}},
	{"a closed queue accepts nothing", func(p *caseT, open func() Queue) {
		q := open()
		q.Close()
		p.must(q.Add(object("a@1")) != nil, "Add returned no error")
	}},
	{"a fresh queue is not synced", func(p *caseT, open func() Queue) { // DF-24
		p.must(!open().Synced(), "the queue is synced")
	}},
	{"a queue is synced when the first replace was taken, for good", func(p *caseT, open func() Queue) {
		// DF-27, DF-28, DF-30
		q := open()
		p.succeeds(q.Replace(objects("a@1", "b@2", "b@2"), "2"))
		p.must(!q.Synced(), "the queue was synced before a Take")
		p.take(q)
		p.must(q.Synced(), "the queue is not synced")
		p.succeeds(q.Replace(objects("c@3"), "3"))
		p.must(q.Synced(), "the queue is no longer synced")
	}},
	{"an empty first replace syncs", func(p *caseT, open func() Queue) { // DF-26, RF-19
		q := open()
		p.succeeds(q.Replace(nil, "1"))
		p.take(q)
		p.must(q.Synced(), "the queue is not synced")
	}},
	{"single changes don't sync", func(p *caseT, open func() Queue) { // DF-25
		q := open()
		p.succeeds(q.Add(object("a@1")))
		p.take(q)
		p.must(!q.Synced(), "the queue is synced")
	}},
}

// take takes pending deltas, and requires that there are some.
func (p *caseT) take(q Queue) []Stack {
	stacks, closed := q.Take()
	p.must(!closed, "the queue is closed")
	return stacks
}

func (p *caseT) takes(q Queue, want ...Stack) { p.equal(want, p.take(q), "taken") }

func (p *caseT) takesSorted(q Queue, want ...Stack) {
	stacks := p.take(q)
	slices.Sort(stacks)
	p.equal(want, stacks, "taken, sorted")
}

// populated opens a queue whose consumer has these objects.
func (p *caseT) populated(open func() Queue, all ...string) Queue {
	q := open()
	p.succeeds(q.Replace(objects(all...), "1"))
	p.take(q)
	return q
}
