package migrate

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// around is the number of unchanged lines around each change in a diff.
const around = 3

// printDiff prints the changes of a file in the format of patch and git apply.
func printDiff(w io.Writer, name string, before, after []byte) {
	a, b := lines(before), lines(after)
	fmt.Fprintf(w, "--- a/%s\n+++ b/%s\n", name, name)
	changes := compare(a, b)
	for i := 0; i < len(changes); {
		if changes[i].kind == ' ' {
			i++
			continue
		}
		start, end := i, i+1 // range of the changes of one hunk
		for j := end; j < len(changes) && j-end <= 2*around; j++ {
			if changes[j].kind != ' ' {
				end = j + 1
			}
		}
		i = end
		start, end = max(0, start-around), min(len(changes), end+around)
		hunk := changes[start:end]
		// numbers of lines that only one side has
		removed, added := count(hunk, '+'), count(hunk, '-')
		fmt.Fprintf(w, "@@ -%d,%d +%d,%d @@\n", hunk[0].a+1, len(hunk)-removed, hunk[0].b+1, len(hunk)-added)
		for _, c := range hunk {
			fmt.Fprintf(w, "%c%s\n", c.kind, strings.TrimSuffix(c.line, "\n"))
			if !strings.HasSuffix(c.line, "\n") {
				fmt.Fprintln(w, `\ No newline at end of file`)
			}
		}
	}
}

func lines(text []byte) []string { return slices.Collect(strings.Lines(string(text))) }

// change is a line of a diff: ' ' for unchanged, '-' for removed, '+' for added. The fields a and b
// are the numbers of lines before it on the two sides.
type change struct {
	kind byte
	a, b int
	line string
}

func count(changes []change, kind byte) int {
	n := 0
	for _, c := range changes {
		if c.kind == kind {
			n++
		}
	}
	return n
}

// compare finds the changes. It skips equal lines at the start and at the end, and takes the
// longest common subsequence of the rest.
func compare(a, b []string) []change {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []change
	for i := range head {
		out = append(out, change{' ', i, i, a[i]})
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	common := make([][]int32, len(x)+1) // lengths of the common subsequences of x[i:] and y[j:]
	for i := range common {
		common[i] = make([]int32, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(x) || j < len(y); {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			out = append(out, change{' ', head + i, head + j, x[i]})
			i++
			j++
		case j == len(y) || i < len(x) && common[i+1][j] >= common[i][j+1]:
			out = append(out, change{'-', head + i, head + j, x[i]})
			i++
		default:
			out = append(out, change{'+', head + i, head + j, y[j]})
			j++
		}
	}
	for i := range tail {
		out = append(out, change{' ', len(a) - tail + i, len(b) - tail + i, a[len(a)-tail+i]})
	}
	return out
}
