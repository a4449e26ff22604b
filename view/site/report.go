package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// most is how many bytes the folder may have.
const most = 10_000_000

// report says what the folder has, and returns an error if that is too much. A host that compresses texts sends less.
func report(w io.Writer, dir string, files []file) error {
	total := 0
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(len(b.body), len(a.body)) })
	for n, f := range files {
		total += len(f.body)
		if n < 3 {
			_, _ = fmt.Fprintf(w, "%9d bytes  %s\n", len(f.body), f.name)
		}
	}
	_, _ = fmt.Fprintf(w, "%9d bytes  in %d files, over the wire at most\n%s can be served by any host of static files\n", total, len(files), dir)
	if total > most {
		return fmt.Errorf("the folder has %d bytes, and may have %d", total, most)
	}
	return nil
}
