package top

import (
	"math"
	"strconv"

	"github.com/kinform/kinform/view"
)

// Numbers have the same format here as on the page.

const unknown = "–"

// formatNumber formats a number of things.
func formatNumber(n float64) string {
	switch {
	case math.IsNaN(n):
		return unknown
	case math.Abs(n) >= 1e7:
		return strconv.FormatFloat(n/1e6, 'f', 1, 64) + " M"
	}
	digits := strconv.FormatFloat(math.Abs(math.Round(n)), 'f', 0, 64)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	if math.Round(n) < 0 {
		return "-" + digits
	}
	return digits
}

func formatInt(n int) string { return formatNumber(float64(n)) }

// plural formats a number of things with their noun.
func plural[N int | float64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return formatNumber(float64(n)) + " " + noun + "s"
}

func rate(n float64) string {
	switch {
	case n == 0:
		return "0/s"
	case n < 10:
		return strconv.FormatFloat(n, 'f', 1, 64) + "/s"
	}
	return formatNumber(n) + "/s"
}

func seconds(s float64) string {
	switch {
	case s == 0:
		return "0 s"
	case s < 1e-6:
		return formatRounded(s*1e9) + " ns"
	case s < 1e-3:
		return formatTenth(s*1e6) + " µs"
	case s < 1:
		return formatTenth(s*1e3) + " ms"
	case s < 120:
		return formatTenth(s) + " s"
	case s < 7200:
		return formatRounded(s/60) + " min"
	}
	return formatRounded(s/3600) + " h"
}

func formatBytes(n float64) string {
	switch {
	case n < 1000:
		return formatRounded(n) + " B"
	case n < 1e6:
		return formatTenth(n/1e3) + " kB"
	case n < 1e9:
		return formatTenth(n/1e6) + " MB"
	}
	return formatTenth(n/1e9) + " GB"
}

// formatTenth formats a number below ten with one decimal.
func formatTenth(n float64) string {
	if n < 10 {
		return strconv.FormatFloat(n, 'f', 1, 64)
	}
	return formatRounded(n)
}

func formatRounded(n float64) string { return strconv.FormatFloat(n, 'f', 0, 64) }

// shorten shortens a long name. It keeps the end, because names differ there.
func shorten(name string, most int) string {
	if cells(name) <= most {
		return name
	}
	if most < 1 {
		return ""
	}
	runes := []rune(name)
	n := 1
	for at := len(runes) - 1; at >= 0; at-- {
		n += cellsOf(runes[at])
		if n > most {
			return "…" + string(runes[at+1:])
		}
	}
	return name
}

// valueOf formats a value according to the description of its number.
func valueOf(number view.Number, value float64) string {
	switch number.Unit {
	case "bool":
		if value != 0 {
			return "yes"
		}
		return "no"
	case "s":
		return seconds(value)
	case "B":
		return formatBytes(value)
	case "%":
		return formatRounded(value) + " %"
	}
	return formatNumber(value)
}

// rateOf formats the rate of a counter.
func rateOf(number view.Number, value float64) string {
	if number.Unit == "B" {
		return formatBytes(value) + "/s"
	}
	return rate(value)
}

// numberText returns a number of a box as text: its current value, and its rate or 99th percentile.
// If known is false, the box does not have the number.
func numberText(number view.Number, box *view.Box) (now, more string, known bool) {
	if box == nil {
		return unknown, "", false
	}
	if number.Kind == "time" {
		t := box.Times[number.ID]
		if t.Count == 0 {
			return unknown, "", true
		}
		return seconds(t.P50), "p99 " + seconds(t.P99), true
	}
	value, known := box.Numbers[number.ID]
	if !known {
		return unknown, "", false
	}
	if number.Kind == "counter" {
		if perSecond, ok := box.Rates[number.ID]; ok {
			more = rateOf(number, perSecond)
		}
	}
	return valueOf(number, value), more, true
}
