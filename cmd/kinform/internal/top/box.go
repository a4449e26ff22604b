package top

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kinform/kinform/view"
)

// preferredNumbers are the most informative numbers of each box. A small box shows these numbers
// first, and others only if there is room.
var preferredNumbers = map[string][]string{
	"server":    {"objects", "window", "received", "requests"},
	"reflector": {"synced", "events", "lag", "heard", "relists"},
	"fifo":      {"keys", "deltas", "queued", "batches"},
	"store":     {"objects", "lag", "updated", "added", "deleted"},
	"handlers":  {"waiting", "delivered", "oldest", "panics"},
	"queue":     {"ready", "delayed", "dirty", "processing", "adds"},
	"workers":   {"workers", "busy", "done", "failures"},
}

// box draws one of the seven boxes.
type box struct {
	info     view.BoxInfo
	n        int // its key on the keyboard
	data     *frameData
	history  *numberHistory
	strip    line
	selected bool // selected by the keys 1 to 7
}

// topNumbers returns the known numbers of a box in their usual order. If most is too small for all
// of them, it returns the most informative ones.
func (b *box) topNumbers(most int) (all []view.Number) {
	of := b.data.boxes[b.info.ID]
	for _, number := range b.data.hello.Numbers {
		if _, _, known := numberText(number, of); known && number.Box == b.info.ID {
			all = append(all, number)
		}
	}
	if len(all) <= most {
		return all
	}
	rank := func(number view.Number) int {
		if n := slices.Index(preferredNumbers[b.info.ID], number.ID); n >= 0 {
			return n
		}
		return len(preferredNumbers[b.info.ID])
	}
	slices.SortStableFunc(all, func(x, y view.Number) int { return rank(x) - rank(y) })
	return all[:most]
}

// draw returns a box of this size, including borders.
func (b *box) draw(width, height int) []line {
	inner := width - 2
	border := muted
	if b.selected {
		border = accent
	}
	title := joined(text(border, "┌"), text(accent, fmt.Sprint(b.n)), text(strong, " "+b.info.Title))
	of := b.data.boxes[b.info.ID]
	if of != nil && (b.info.ID == "queue" || b.info.ID == "workers") {
		title = joined(title, text(muted, " "+of.Name))
	}
	title = joined(title.fit(min(title.width(), width-2)), text(border, " "))
	all := []line{joined(title, text(border, strings.Repeat("─", max(width-1-title.width(), 0))+"┐"))}
	for _, l := range b.content(of, inner, height-2) {
		all = append(all, joined(text(border, "│"), l.fit(inner), text(border, "│")))
	}
	lane := b.strip[:min(len(b.strip), inner)]
	return append(all, joined(text(border, "└"), lane, text(border, strings.Repeat("─", max(inner-len(lane), 0))+"┘")))
}

// content returns this many lines for the inside of a box: its state, its numbers, and further
// details.
func (b *box) content(of *view.Box, width, height int) []line {
	if height <= 0 {
		return nil
	}
	if of == nil {
		return make([]line, height)
	}
	state := of.State
	if b.info.ID == "server" && state != "" {
		state = "version " + state
	}
	all := []line{text(accent, state)}
	rest := height - 1
	if b.info.ID == "queue" && width >= 36 {
		return append(all, b.wideQueue(width, rest)...)
	}
	known := len(b.topNumbers(len(b.data.hello.Numbers)))
	more := b.details(width, rest)
	more = more[:min(len(more), max(rest-known, rest/2))]
	for _, number := range b.topNumbers(rest - len(more)) {
		all = append(all, b.numberLine(number, of, width))
	}
	all = append(all, more...)
	for len(all) < height {
		all = append(all, nil)
	}
	return all[:height]
}

// wideQueue shows numbers on the left and keys on the right.
func (b *box) wideQueue(width, height int) []line {
	of := b.data.boxes[b.info.ID]
	left := width / 2
	if width >= 70 {
		left = width - 34
	}
	columns := 1
	if left >= 60 {
		columns = 2
	}
	wide := (left - 1) / columns
	var cells [][]line
	var widths []int
	numbers := b.topNumbers(height * columns)
	for len(numbers) > 0 {
		n := min(len(numbers), max((len(numbers)+columns-1-len(cells))/(columns-len(cells)), 1))
		var column []line
		for _, number := range numbers[:n] {
			column = append(column, joined(b.numberLine(number, of, wide-1), text(plain, " ")))
		}
		numbers = numbers[n:]
		cells, widths = append(cells, column), append(widths, wide)
	}
	used := 0
	for _, w := range widths {
		used += w
	}
	cells, widths = append(cells, b.details(width-used, height)), append(widths, width-used)
	all := sideBySide(cells, widths, nil)
	for len(all) < height {
		all = append(all, nil)
	}
	return all[:height]
}

// numberLine shows one number: its label, its history if there is room, its value and its rate.
func (b *box) numberLine(number view.Number, of *view.Box, width int) line {
	now, more, _ := numberText(number, of)
	value := text(plain, now)
	if number.Unit == "bool" && now == "no" || number.Unit == "" && indicatesProblem(number) && now != "0" {
		value = text(bad, now)
	}
	if width < 30 {
		return leftAndRight(text(muted, number.Label), joined(text(plain, " "), value), width)
	}
	sparkWide := 10
	if width >= 70 {
		sparkWide = min(width-50, historyLength/2)
	}
	history := text(accent, b.history.spark(number.Box+"."+number.ID, sparkWide)).fit(sparkWide)
	beside := text(muted, more).padLeft(10)
	switch {
	case width >= 46:
		value = joined(history, value.padLeft(10))
	case more == "":
		beside = history
	}
	return leftAndRight(text(muted, number.Label), joined(text(plain, " "), value, text(plain, " "), beside), width)
}

// indicatesProblem reports whether a number indicates a problem if it is not 0.
func indicatesProblem(number view.Number) bool {
	switch number.Box + "." + number.ID {
	case "reflector.failures", "handlers.panics", "workers.panics", "store.undecodable":
		return true
	}
	return false
}

// details shows the details of a box beside its numbers: handlers with their mailboxes, keys of the
// queue, or workers with their keys.
func (b *box) details(width, height int) (all []line) {
	switch b.info.ID {
	case "handlers":
		for _, h := range b.data.frame.Handlers {
			all = append(all, handlerLine(h, width))
		}
	case "queue":
		all = append(all, queueBar(b.data.keys(), width))
		for _, k := range b.data.keys().List {
			if !k.Processing || k.Dirty {
				all = append(all, keyLine(k, width))
			}
		}
	case "workers":
		for _, k := range b.data.keys().List {
			if k.Processing {
				all = append(all, leftAndRight(joined(text(kindKey, "w "), text(plain, shorten(k.Key, max(width-10, 4)))), text(muted, seconds(k.Age)), width))
			}
		}
	case "store":
		for _, i := range b.data.frame.Indexes {
			all = append(all, leftAndRight(text(muted, "index "+i.Name), text(plain, " "+plural(i.Values, "value")), width))
		}
	}
	if len(all) > height {
		all = append(all[:max(height-1, 0)], text(muted, fmt.Sprintf("and %d more", len(all)-max(height-1, 0))))
	}
	return all
}

// handlerLine shows a handler with the number of its waiting events.
func handlerLine(h view.Handler, width int) line {
	right := text(plain, " "+formatInt(h.Waiting))
	if !h.Synced {
		right = text(bad, " not synced "+formatInt(h.Waiting))
	}
	room := min(max(width/4, 4), 16)
	mailbox := strings.Repeat("▮", min(max(h.Waiting, 0), room))
	return leftAndRight(text(plain, h.Name), joined(text(kindModified, " "+mailbox), right), width)
}

// queueBar shows a letter for each key: p if a worker has it, a if it was added meanwhile, r for
// ready, w for waiting, h for held back.
func queueBar(keys view.Keys, width int) (l line) {
	if keys.All == 0 {
		return text(muted, "empty")
	}
	if len(keys.List) == 0 {
		return text(muted, formatInt(keys.All)+" keys")
	}
	for n, k := range keys.List {
		if n == width {
			break
		}
		l = append(l, keyLetter(k))
	}
	return l
}

func keyLetter(k view.Key) span {
	switch {
	case k.Processing && k.Dirty:
		return span{"a", kindModified}
	case k.Processing:
		return span{"p", good}
	case k.Ready, k.Dirty && k.DueIn == 0:
		return span{"r", kindListed}
	case k.Parked:
		return span{"h", kindSync}
	}
	return span{"w", kindKey}
}

func keyLine(k view.Key, width int) line {
	when := ""
	switch {
	case k.DueIn > 0:
		when = "in " + seconds(k.DueIn)
	case k.Age > 0:
		when = seconds(k.Age)
	}
	if k.Retries > 0 {
		when += fmt.Sprintf(" ×%d", k.Retries)
	}
	return leftAndRight(joined(line{keyLetter(k)}, text(plain, " "+shorten(k.Key, max(width-cells(when)-3, 4)))), text(muted, " "+when), width)
}

// detail shows everything that is known about a box, for the panel.
func (b *box) detail(width, height int) []line {
	of := b.data.boxes[b.info.ID]
	all := wrapped(muted, "The "+b.info.Title+" "+b.info.Help, width)
	if of == nil {
		return append(all, text(muted, "There is none here."))
	}
	numbers := b.topNumbers(len(b.data.hello.Numbers))
	more := b.details(min(width/2, 50), height)
	wide := width
	if len(more) > 0 && width >= 90 {
		wide = width - 52
	}
	columns := 1
	if wide >= 100 || len(all)+len(numbers) > height && wide >= 76 {
		columns = 2
	}
	each := wide / columns
	var blocks [][]line
	var widths []int
	rows := (len(numbers) + columns - 1) / columns
	for from := 0; from < len(numbers); from += rows {
		var column []line
		for _, number := range numbers[from:min(from+rows, len(numbers))] {
			column = append(column, joined(b.numberLine(number, of, each-2), text(plain, "  ")))
		}
		blocks, widths = append(blocks, column), append(widths, each)
	}
	if wide < width {
		blocks, widths = append(blocks, more), append(widths, 50)
		return append(all, sideBySide(blocks, widths, nil)...)
	}
	return append(append(all, sideBySide(blocks, widths, nil)...), more...)
}
