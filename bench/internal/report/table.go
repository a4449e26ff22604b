package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Table is a list of rows of cells; the first row is the header.
type Table [][]string

// Add appends a row.
func (t *Table) Add(cells ...string) { *t = append(*t, cells) }

// String formats the table as plain text, with the first column aligned left and the others right.
func (t Table) String() string {
	var widths []int
	for _, row := range t {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for n, row := range t {
		writeRow(&b, row, widths)
		if n == 0 {
			rule := make([]string, len(widths))
			for i, width := range widths {
				rule[i] = strings.Repeat("-", width)
			}
			writeRow(&b, rule, widths)
		}
	}
	return b.String()
}

func writeRow(b *strings.Builder, row []string, widths []int) {
	var line strings.Builder
	for i, cell := range row {
		if i == 0 {
			fmt.Fprintf(&line, "%-*s", widths[i], cell)
		} else {
			fmt.Fprintf(&line, "  %*s", widths[i], cell)
		}
	}
	b.WriteString(strings.TrimRight(line.String(), " "))
	b.WriteByte('\n')
}
