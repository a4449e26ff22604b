package top

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// statePicture shows the reflector as a state machine. In each state, the user selects a reply of
// the server, and sees how the reflector reacts. The table is the page's steps.json, which a test
// of package reflector generates by running the reflector.
type statePicture struct {
	screen    *screen
	requested bool
	failed    string
	table     []stepRow
	livePhase string // the phase of this pipeline's reflector

	state    stepState
	previous []stepState
	log      []string // the newest step first
	selected int      // index of the selected reply
}

// stepRow is a state with the replies that are possible in it.
type stepRow struct {
	Name    string      `json:"name"`
	Phase   string      `json:"phase"`
	Replies []stepReply `json:"replies"`
}

// stepReply is a reply of the server. Its outcome depends on the number of failures before it.
type stepReply struct {
	Name     string        `json:"name"`
	Outage   bool          `json:"outage"`
	Expired  bool          `json:"expired"`
	Outcomes []stepOutcome `json:"outcomes"`
}

type stepOutcome struct {
	After      float64  `json:"after"`
	Wait       float64  `json:"wait"`
	Reports    []string `json:"said"`
	StoreCalls []string `json:"told"`
	Next       string   `json:"next"`
	Row        int      `json:"row"` // -1: stopped
	// effect on the count of failures: + adds one, 0 resets it, = keeps it
	Counts string `json:"counts"`
}

// stepState is the state of a reflector: in a row of the table, waiting for the next attempt, or
// stopped. Failures in a row are counted separately for snapshots and for watches, and separately
// for server errors and for outages.
type stepState struct {
	row     int
	counts  [4]int
	expired [2]bool
	wait    float64
	stopped bool
}

var phaseTexts = []struct{ name, text string }{
	{"listing", "It requests a list, or the next page of a list. Version \"0\" allows any version that the server has cached, \"\" requires the most recent one."},
	{"streaming", "It requests a watch that begins with all objects, and collects the objects up to the end marker."},
	{"connecting", "It requests a watch that begins after its version."},
	{"watching", "It reads the next event of the watch."},
	{"comparing", "A watch was lost. It checks whether the server still has the same history."},
	{"backing off", "It waits. (A real wait has a random part; this picture leaves it out.)"},
	{"stopped", "It has stopped, because its context has ended."},
}

const maxLog = 30

// stepsResult is the table in the form in which the page serves it.
type stepsResult struct {
	of   *statePicture
	rows []stepRow
	err  error
}

func (t *statePicture) opened() {
	if t.requested {
		return
	}
	t.requested = true
	page := t.screen.page
	t.screen.start(func(ctx context.Context) any {
		rows, err := page.steps(ctx)
		return stepsResult{t, rows, err}
	})
}

func (t *statePicture) handleResult(a stepsResult) {
	if a.err != nil {
		t.failed, t.requested = safe(a.err.Error()), false
		return
	}
	t.table, t.failed = a.rows, ""
	t.startAt(0)
}

func (t *statePicture) frame(s *frameData) {
	t.livePhase = ""
	if b := s.boxes["reflector"]; b != nil {
		for _, p := range phaseTexts {
			if strings.HasPrefix(b.State, p.name) {
				t.livePhase = p.name
			}
		}
	}
}

func (t *statePicture) startAt(row int) {
	t.previous, t.log = nil, nil
	t.enter(stepState{row: row})
}

func (t *statePicture) enter(s stepState) { t.state, t.selected = s, 0 }

// currentRow returns the row of the current state, or nil if the reflector waits or has stopped.
func (t *statePicture) currentRow() *stepRow {
	if t.state.stopped || t.state.wait > 0 || t.state.row < 0 || t.state.row >= len(t.table) {
		return nil
	}
	return &t.table[t.state.row]
}

func (t *statePicture) phase() string {
	row := t.currentRow()
	switch {
	case row != nil:
		return row.Phase
	case t.state.wait > 0:
		return "backing off"
	}
	return "stopped"
}

// choices returns the names of the possible replies.
func (t *statePicture) choices() (names []string) {
	if row := t.currentRow(); row != nil {
		for _, r := range row.Replies {
			names = append(names, r.Name)
		}
	} else if t.state.wait > 0 {
		names = []string{"The wait is over"}
	}
	return names
}

// key handles a key. It selects a reply, sends the selected reply, undoes the last step, or starts
// from another state.
func (t *statePicture) key(name string) bool {
	if t.failed != "" && name == "enter" {
		t.opened()
		return true
	}
	if len(t.table) == 0 {
		return false
	}
	all := t.choices()
	switch name {
	case "up":
		t.selected = max(t.selected-1, 0)
	case "down":
		t.selected = min(t.selected+1, max(len(all)-1, 0))
	case "left":
		t.startAt((t.state.row + len(t.table) - 1) % len(t.table))
	case "right":
		t.startAt((t.state.row + 1) % len(t.table))
	case "backspace":
		if n := len(t.previous); n > 0 {
			t.enter(t.previous[n-1])
			t.previous, t.log = t.previous[:n-1], t.log[min(1, len(t.log)):]
		}
	case "enter":
		t.sendReply()
	default:
		return false
	}
	return true
}

func (t *statePicture) sendReply() {
	row := t.currentRow()
	switch {
	case row != nil && t.selected < len(row.Replies):
		t.applyReply(row, &row.Replies[t.selected])
	case row == nil && t.state.wait > 0:
		next := t.state
		next.wait = 0
		t.addStep("the wait is over", next)
	}
}

// countersIndex returns 1 for a phase that watches, and 0 for a phase that takes a snapshot.
func countersIndex(phase string) int {
	if phase == "listing" || phase == "streaming" {
		return 0
	}
	return 1
}

// applyReply applies a reply, given the number of failures so far.
func (t *statePicture) applyReply(row *stepRow, reply *stepReply) {
	if len(reply.Outcomes) == 0 {
		return
	}
	k := countersIndex(row.Phase)
	before := t.state.counts[2*k]
	if reply.Outage {
		before = t.state.counts[2*k+1]
	}
	// After the first 410, the reflector lists at once, whatever failed before.
	if reply.Expired && k == 1 && !t.state.expired[k] {
		before = 0
	}
	o := reply.Outcomes[min(before, len(reply.Outcomes)-1)]
	next := stepState{row: o.Row, counts: t.state.counts, expired: t.state.expired, wait: o.Wait, stopped: o.Row < 0 || o.Row >= len(t.table)}
	for n := range next.counts {
		if n < len(o.Counts) {
			switch o.Counts[n] {
			case '+':
				next.counts[n]++
			case '0':
				next.counts[n] = 0
			}
		}
	}
	next.expired[k] = reply.Expired
	t.addStep(row.Name+": "+reply.Name+". "+o.String(), next)
}

// String describes an outcome in words.
func (o stepOutcome) String() string {
	var said []string
	if o.After > 0 {
		said = append(said, "This takes "+seconds(o.After)+".")
	}
	for _, s := range o.Reports {
		said = append(said, "It reports: "+s+".")
	}
	for _, s := range o.StoreCalls {
		said = append(said, "It calls the store: "+s+".")
	}
	if o.Wait > 0 {
		said = append(said, "It waits "+seconds(o.Wait)+".")
	}
	if o.Row < 0 {
		return strings.Join(append(said, "It stops."), " ")
	}
	return strings.Join(append(said, "Then: "+o.Next+"."), " ")
}

func (t *statePicture) addStep(what string, next stepState) {
	t.previous = append(t.previous, t.state)
	t.previous = t.previous[max(len(t.previous)-maxLog, 0):]
	t.log = slices.Insert(t.log, 0, what)
	t.log = t.log[:min(len(t.log), maxLog)]
	t.enter(next)
}

func (t *statePicture) lines(width, height int) []line {
	switch {
	case t.failed != "":
		return wrapped(bad, "The table could not be loaded: "+t.failed, width)
	case len(t.table) == 0:
		return []line{text(muted, "The table is loading.")}
	}
	here := t.phase()
	left := make([]line, 0, len(phaseTexts)+2)
	about := ""
	for _, p := range phaseTexts {
		how, mark := plain, "  "
		if p.name == here {
			how, mark, about = strong, "▶ ", p.text
		}
		l := text(how, mark+p.name)
		if p.name == t.livePhase {
			l = joined(l, text(accent, " ◆"))
		}
		left = append(left, l)
	}
	if t.livePhase != "" {
		left = append(left, text(accent, "◆ the reflector now"))
	}
	side := 21
	room := width - side
	title := here
	if row := t.currentRow(); row != nil {
		title = row.Name
		k := countersIndex(row.Phase)
		if n := t.state.counts[2*k] + t.state.counts[2*k+1]; n > 0 {
			title += fmt.Sprintf(", after %d failures in a row", n)
		}
	}
	right := []line{text(strong, title)}
	right = append(right, wrapped(muted, about, room)...)
	right = append(right, text(muted, "↑ ↓ Enter response, Backspace back, ← → begin elsewhere"))
	all := t.choices()
	columns, log := 1, min(len(t.log)*2, 6)
	rows := len(all)
	if avail := max(height-len(right)-log, 3); rows > avail {
		columns = 2
		rows = (len(all) + 1) / 2
		if rows > avail {
			rows = avail
		}
	}
	from := 0 // scrolls so that the selected reply is visible
	if rows > 0 && t.selected >= rows*columns {
		from = t.selected / (rows * columns) * rows * columns
	}
	wide := room / columns
	for y := range rows {
		var l line
		for x := range columns {
			if n := from + x*rows + y; n < len(all) {
				how := plain
				if n == t.selected {
					how = selected
				}
				l = append(l, joined(text(plain, " "), text(how, all[n])).fit(wide)...)
			}
		}
		right = append(right, l)
	}
	for n, said := range t.log {
		how := muted
		if n == 0 {
			how = plain
		}
		right = append(right, wrapped(how, fmt.Sprintf("%d. %s", len(t.log)-n, said), room)...)
	}
	return sideBySide([][]line{left, right}, []int{side, room}, nil)
}
