package deltafifo

import "iter"

// pageSize limits the number of elements in one page, which is one allocation. A consumer that
// keeps one delta of a batch keeps the delta's page and the objects in it.
const pageSize = 1024

// pages is a list that is not copied while it grows: its elements do not move.
type pages[E any] [][]E

// add appends e. Inlining would put its code into the program five times.
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
