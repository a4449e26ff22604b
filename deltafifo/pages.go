package deltafifo

import "iter"

// pageSize bounds the elements that are allocated together, as one page. A consumer that keeps
// one delta of a batch keeps its page, and the objects there.
const pageSize = 1024

// pages is a list that is not copied while it grows. Its elements do not move.
type pages[E any] [][]E

// add appends e. It is not inlined, because the program would have its code five times.
//
//go:noinline
func (p *pages[E]) add(e E) {
	last := len(*p) - 1
	if last < 0 || len((*p)[last]) == cap((*p)[last]) {
		size := 8
		if last >= 0 {
			size = min(2*cap((*p)[last]), pageSize)
		}
		*p = append(*p, make([]E, 0, size))
		last++
	}
	(*p)[last] = append((*p)[last], e)
}

func (p pages[E]) len() (n int) {
	for _, page := range p {
		n += len(page)
	}
	return n
}

func (p pages[E]) all() iter.Seq[*E] {
	return func(yield func(*E) bool) {
		for _, page := range p {
			for i := range page {
				if !yield(&page[i]) {
					return
				}
			}
		}
	}
}
