package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// maxSize is the maximum size of the folder in bytes.
const maxSize = 10_000_000

// report prints the files of the folder, and returns an error if they are too large. A host with
// compression sends less.
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
	if total > maxSize {
		return fmt.Errorf("the folder has %d bytes, more than the limit of %d", total, maxSize)
	}
	return nil
}
