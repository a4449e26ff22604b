package top

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// steps shows the reflector as a state machine. In each state, the user selects a reply of the
// server, and sees how the reflector reacts. The table is the page's steps.json, which a test of
// package reflector generates by running the reflector.
type steps struct {
	screen *screen
	asked  bool
	failed string
	table  []stepRow
	now    string // the phase of this pipeline's reflector

	state stepState
	past  []stepState
	log   []string // the newest step first
	at    int      // index of the selected reply
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
	After float64  `json:"after"`
	Wait  float64  `json:"wait"`
	Said  []string `json:"said"`
	Told  []string `json:"told"`
	Next  string   `json:"next"`
	Row   int      `json:"row"` // -1: stopped
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

var phases = []struct{ name, text string }{
	{"listing", "It requests a list, or the next page of a list. Version \"0\" allows any version that the server has cached, \"\" requires the most recent one."},
	{"streaming", "It requests a watch that begins with all objects, and collects the objects up to the end marker."},
	{"connecting", "It requests a watch that begins after its version."},
	{"watching", "It reads the next event of the watch."},
	{"comparing", "A watch was lost. It checks whether the server still has the same history."},
	{"backing off", "It waits. (A real wait has a random part; this picture leaves it out.)"},
	{"stopped", "It has stopped, because its context has ended."},
}

const keptSteps = 30

// stepTable is the table in the form in which the page serves it.
type stepTable struct {
	of   *steps
	rows []stepRow
	err  error
}

func (t *steps) opened() {
	if t.asked {
		return
	}
	t.asked = true
	page := t.screen.page
	t.screen.start(func(ctx context.Context) any {
		rows, err := page.steps(ctx)
		return stepTable{t, rows, err}
	})
}

func (t *steps) take(a stepTable) {
	if a.err != nil {
		t.failed, t.asked = safe(a.err.Error()), false
		return
	}
	t.table, t.failed = a.rows, ""
	t.begin(0)
}

func (t *steps) frame(s *seen) {
	t.now = ""
	if b := s.boxes["reflector"]; b != nil {
		for _, p := range phases {
			if strings.HasPrefix(b.State, p.name) {
				t.now = p.name
			}
		}
	}
}

func (t *steps) begin(row int) {
	t.past, t.log = nil, nil
	t.enter(stepState{row: row})
}

func (t *steps) enter(s stepState) { t.state, t.at = s, 0 }

// here returns the row of the current state, or nil if the reflector waits or has stopped.
func (t *steps) here() *stepRow {
	if t.state.stopped || t.state.wait > 0 || t.state.row < 0 || t.state.row >= len(t.table) {
		return nil
	}
	return &t.table[t.state.row]
}

func (t *steps) phase() string {
	row := t.here()
	switch {
	case row != nil:
		return row.Phase
	case t.state.wait > 0:
		return "backing off"
	}
	return "stopped"
}

// choices returns the names of the possible replies.
func (t *steps) choices() (names []string) {
	if row := t.here(); row != nil {
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
func (t *steps) key(name string) bool {
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
		t.at = max(t.at-1, 0)
	case "down":
		t.at = min(t.at+1, max(len(all)-1, 0))
	case "left":
		t.begin((t.state.row + len(t.table) - 1) % len(t.table))
	case "right":
		t.begin((t.state.row + 1) % len(t.table))
	case "backspace":
		if n := len(t.past); n > 0 {
			t.enter(t.past[n-1])
			t.past, t.log = t.past[:n-1], t.log[min(1, len(t.log)):]
		}
	case "enter":
		t.answer()
	default:
		return false
	}
	return true
}

func (t *steps) answer() {
	row := t.here()
	switch {
	case row != nil && t.at < len(row.Replies):
		t.step(row, &row.Replies[t.at])
	case row == nil && t.state.wait > 0:
		next := t.state
		next.wait = 0
		t.took("the wait is over", next)
	}
}

// watches returns 1 for a phase that watches, and 0 for a phase that takes a snapshot.
func watches(phase string) int {
	if phase == "listing" || phase == "streaming" {
		return 0
	}
	return 1
}

// step applies a reply, given the number of failures so far.
func (t *steps) step(row *stepRow, reply *stepReply) {
	if len(reply.Outcomes) == 0 {
		return
	}
	k := watches(row.Phase)
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
	t.took(row.Name+": "+reply.Name+". "+o.String(), next)
}

// String describes an outcome in words.
func (o stepOutcome) String() string {
	var said []string
	if o.After > 0 {
		said = append(said, "This takes "+seconds(o.After)+".")
	}
	for _, s := range o.Said {
		said = append(said, "It reports: "+s+".")
	}
	for _, s := range o.Told {
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

func (t *steps) took(what string, next stepState) {
	t.past = append(t.past, t.state)
	t.past = t.past[max(len(t.past)-keptSteps, 0):]
	t.log = slices.Insert(t.log, 0, what)
	t.log = t.log[:min(len(t.log), keptSteps)]
	t.enter(next)
}

func (t *steps) lines(width, height int) []line {
	switch {
	case t.failed != "":
		return wrapped(bad, "The table could not be loaded: "+t.failed, width)
	case len(t.table) == 0:
		return []line{text(soft, "The table is loading.")}
	}
	here := t.phase()
	left := make([]line, 0, len(phases)+2)
	about := ""
	for _, p := range phases {
		how, mark := plain, "  "
		if p.name == here {
			how, mark, about = strong, "▶ ", p.text
		}
		l := text(how, mark+p.name)
		if p.name == t.now {
			l = joined(l, text(accent, " ◆"))
		}
		left = append(left, l)
	}
	if t.now != "" {
		left = append(left, text(accent, "◆ the reflector now"))
	}
	side := 21
	room := width - side
	title := here
	if row := t.here(); row != nil {
		title = row.Name
		k := watches(row.Phase)
		if n := t.state.counts[2*k] + t.state.counts[2*k+1]; n > 0 {
			title += fmt.Sprintf(", after %d failures in a row", n)
		}
	}
	right := []line{text(strong, title)}
	right = append(right, wrapped(soft, about, room)...)
	right = append(right, text(soft, "↑ ↓ Enter response, Backspace back, ← → begin elsewhere"))
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
	if rows > 0 && t.at >= rows*columns {
		from = t.at / (rows * columns) * rows * columns
	}
	wide := room / columns
	for y := range rows {
		var l line
		for x := range columns {
			if n := from + x*rows + y; n < len(all) {
				how := plain
				if n == t.at {
					how = marked
				}
				l = append(l, joined(text(plain, " "), text(how, all[n])).fit(wide)...)
			}
		}
		right = append(right, l)
	}
	for n, said := range t.log {
		how := soft
		if n == 0 {
			how = plain
		}
		right = append(right, wrapped(how, fmt.Sprintf("%d. %s", len(t.log)-n, said), room)...)
	}
	return beside([][]line{left, right}, []int{side, room}, nil)
}
