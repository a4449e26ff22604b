package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kinform/kinform/bench/internal/report"
)

// trick is a row of the table: what is measured, what each side has for it, and what makes the difference.
type trick struct {
	what, trick string

	// clientGo, plain, kinform and unshared, which is kinform without sharing, are where in the output the numbers are. The zero value is nowhere: that side cannot do
	// it, or has no number of its own.
	clientGo, plain, kinform, unshared place

	// unit is that of numbers that have none in the output, and divisor what they are divided by before, 0 for not at all.
	unit    string
	divisor float64

	rising bool // more is better
}

// place is a cell of one of the tables: the row with this name in its first cell, and second in its second unless that is "".
type place struct{ row, second, column string }

// none is the cell of a side without a number.
const none = "–"

// cells are those of the numbers, the last one that by which kinform is better than plain.
func (t trick) cells(tables []report.Table) (cells []string, err error) {
	for _, p := range []place{t.clientGo, t.plain, t.kinform, t.unshared} {
		cell := none
		if p != (place{}) {
			if cell, err = p.find(tables); err != nil {
				return nil, err
			}
			if cell, err = t.inUnit(cell); err != nil {
				return nil, fmt.Errorf("%s: %w", t.what, err)
			}
		}
		cells = append(cells, cell)
	}
	return append(cells, t.factor(cells[1], cells[2])), nil
}

// find returns the first cell of the place that is not empty.
func (p place) find(tables []report.Table) (string, error) {
	for _, t := range tables {
		for _, row := range t[1:] {
			if row[0] != p.row || p.second != "" && row[1] != p.second {
				continue
			}
			for n, name := range t[0] {
				if name == p.column && row[n] != "" {
					return row[n], nil
				}
			}
		}
	}
	return "", fmt.Errorf("the output has nothing in row %q %q, column %q", p.row, p.second, p.column)
}

func (t trick) inUnit(cell string) (string, error) {
	if t.divisor > 0 {
		value, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			return "", err
		}
		cell = fmt.Sprintf("%.1f", value/t.divisor)
	}
	return strings.TrimSpace(cell + " " + t.unit), nil
}

// factor says by how much ours is better than the textbook's, and none where one of them has no number or is zero.
func (t trick) factor(textbook, ours string) string {
	a, b := leading(textbook), leading(ours)
	if t.rising {
		a, b = b, a
	}
	if a == 0 || b == 0 {
		return none
	}
	return fmt.Sprintf("%.1f", a/b)
}

// leading is the number that a cell begins with, 0 if it does not.
func leading(cell string) float64 {
	number, _, _ := strings.Cut(cell, " ")
	value, _ := strconv.ParseFloat(strings.TrimSuffix(number, "%"), 64)
	return value
}
