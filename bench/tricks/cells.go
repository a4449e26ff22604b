package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kinform/kinform/bench/internal/report"
)

// trick is a row of the table: the measured quantity, each side's number, and the reason for the
// difference.
type trick struct {
	what, trick string

	// clientGo, plain, kinform and unshared (kinform without sharing) say where the numbers are in
	// the output. The zero place means that the side does not support the measurement, or has no
	// number of its own.
	clientGo, plain, kinform, withoutSharing cellRef

	// unit is for numbers that have no unit in the output. divisor divides these numbers, unless it
	// is 0.
	unit    string
	divisor float64

	moreIsBetter bool // more is better
}

// cellRef identifies a cell of one of the tables by its column and its row. row is the first cell
// of the row. If second is not "", the row's second cell must equal it.
type cellRef struct{ row, second, column string }

// none is the text of a cell for a side without a number.
const none = "–"

// cells returns the cells with the numbers; the last one is the factor by which kinform is better
// than plain.
func (t trick) cells(tables []report.Table) (cells []string, err error) {
	for _, p := range []cellRef{t.clientGo, t.plain, t.kinform, t.withoutSharing} {
		cell := none
		if p != (cellRef{}) {
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

// find returns the first non-empty cell at the place.
func (p cellRef) find(tables []report.Table) (string, error) {
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
	return "", fmt.Errorf("the output has no value in row %q %q, column %q", p.row, p.second, p.column)
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

// factor returns how many times better ours is than the textbook's number. It returns none if a
// number is missing or zero.
func (t trick) factor(textbook, ours string) string {
	a, b := leading(textbook), leading(ours)
	if t.moreIsBetter {
		a, b = b, a
	}
	if a == 0 || b == 0 {
		return none
	}
	return fmt.Sprintf("%.1f", a/b)
}

// leading returns the number at the beginning of a cell, or 0.
func leading(cell string) float64 {
	number, _, _ := strings.Cut(cell, " ")
	value, _ := strconv.ParseFloat(strings.TrimSuffix(number, "%"), 64)
	return value
}
