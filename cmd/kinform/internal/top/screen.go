package top

import (
	"context"
	"fmt"
	"time"

	"github.com/kinform/kinform/view"
)

// mode is what covers the boxes on the screen.
type mode uint8

const (
	boxesMode mode = iota
	tableMode
	indexMode
	helpMode
	actionsMode
)

// screen is the content of the terminal, and its reactions to keys. It does not know the terminal.
// It receives keys, lines and the time one after another, and draws lines of text. It has no
// goroutines.
type screen struct {
	page *page

	// follow switches to another pipeline, and returns the number of its stream. start runs a slow
	// function in the background. The result of the slow function is passed to [screen.take].
	follow func(name string) int
	start  func(func(ctx context.Context) any)
	player *player // of the recording; nil for a live view

	width, height int
	colors        palette
	now           time.Time
	mode          mode
	quit          bool

	stream int
	name   string // name of the shown pipeline
	hello  *view.Hello
	shown  *seen
	latest *view.Frame // the newest frame, even while the picture is frozen
	queue  string      // name of the selected queue
	past   *past
	recent *recent
	small  map[string]picture

	box     int // selected by the keys 1 to 7; 0 for none
	picture string
	held    bool
	missed  uint64 // number of missed frames since the stream began
	lost    string
	since   time.Time // time of the last frame, or of the loss of the stream

	said    string
	saidBad bool
	saidAt  time.Time

	index  index
	menu   menu
	scroll int
}

// newScreen returns the screen of a page, for a terminal of unknown size.
func newScreen(p *page, now time.Time) *screen {
	s := &screen{page: p, width: 80, height: 24, now: now, since: now, colors: paletteFor(unknownGround), follow: func(string) int { return 0 }, start: func(func(context.Context) any) {}}
	s.menu.values = map[string]map[string]string{}
	s.forget()
	return s
}

// mostParts is the largest number of pipelines for which the screen does not begin with the index.
const mostParts = 8

// begin shows the first pipeline of a page, or the index if there are many.
func (s *screen) begin(all view.Parts) {
	s.index.take(all, s.now)
	if len(all.Parts) > mostParts {
		s.mode = indexMode
		return
	}
	name := ""
	if len(all.Parts) > 0 {
		name = all.Parts[0].Name
	}
	s.choose(name)
}

// choose shows a pipeline.
func (s *screen) choose(name string) {
	s.name, s.mode, s.lost, s.hello = name, boxesMode, "", nil
	s.forget()
	s.stream = s.follow(name)
}

// play shows a recording.
func (s *screen) play(p *player) {
	s.player = p
	s.forget()
	s.hello, s.name = p.hello, p.hello.Name
	s.hear(p.hello)
	p.seek(0, s.frame)
	s.say(p.note, false)
}

// forget resets the pictures.
func (s *screen) forget() {
	s.shown, s.latest, s.missed = nil, nil, 0
	s.past, s.recent, s.small = newPast(), newRecent(), newPictures(s)
	s.opened()
}

// hear handles the first line of a stream. If it is the same pipeline again after a reconnect, the
// pictures continue.
func (s *screen) hear(h *view.Hello) {
	if s.hello != nil && s.hello != h && (s.hello.Name != h.Name || s.hello.Start != h.Start) {
		s.hello = h
		s.forget()
	}
	s.hello = h
	s.name = h.Name
	s.menu.begin(h)
}

// lines handles the content of a stream.
func (s *screen) lines(h heard) {
	if h.of != s.stream {
		return
	}
	if h.hello != nil {
		s.hear(h.hello)
	}
	if h.lost != "" && s.lost == "" {
		s.since = s.now
	}
	s.lost = h.lost
	if h.frame != nil && s.hello != nil {
		s.since = s.now
		s.frame(h.frame)
	}
}

// frame handles a frame. While the picture is frozen, the frame is not shown.
func (s *screen) frame(f *view.Frame) {
	if s.latest != nil && f.Seq > s.latest.Seq+1 && s.player == nil {
		s.missed += f.Seq - s.latest.Seq - 1
	}
	s.latest = f
	shown := look(s.hello, f, s.queue)
	s.past.add(s.hello.Numbers, shown.boxes, f.At)
	if s.held {
		return
	}
	s.shown = shown
	s.recent.frame(shown)
	for _, p := range s.small {
		p.frame(shown)
	}
}

// take handles the result of a background function.
func (s *screen) take(result any) {
	switch r := result.(type) {
	case did:
		s.menu.busy--
		if r.err != nil {
			s.say("✗ "+safe(r.err.Error()), true)
		} else {
			s.say(r.said, false)
		}
	case indexAnswer:
		s.index.asked = false
		if r.err != nil {
			s.index.failed = safe(r.err.Error())
		} else {
			s.index.take(r.parts, s.now)
		}
	case lookedUp:
		r.of.take(r)
	case stepTable:
		r.of.take(r)
	}
}

// say shows a sentence for some seconds.
func (s *screen) say(what string, wrong bool) { s.said, s.saidBad, s.saidAt = what, wrong, s.now }

const saidStays = 12 * time.Second

// tick advances the clock. It reports whether anything on the screen has changed.
func (s *screen) tick(now time.Time) (changed bool) {
	passed := now.Sub(s.now)
	second := now.Truncate(time.Second) != s.now.Truncate(time.Second)
	s.now = now
	if s.said != "" && now.Sub(s.saidAt) > saidStays {
		s.said, changed = "", true
	}
	if s.player != nil && s.player.playing {
		s.player.pass(passed, s.frame)
		changed = true
	}
	if s.mode == indexMode && second && s.player == nil {
		s.askIndex()
	}
	return changed || second
}

// open opens the small picture with this id, or the last events if id is "".
func (s *screen) open(id string) {
	s.picture, s.box, s.mode = id, 0, boxesMode
	s.opened()
}

func (s *screen) opened() {
	if a, ok := s.small[s.picture].(asking); ok && (s.hello != nil || s.player != nil) {
		a.opened()
	}
}

// hold freezes the picture, or lets it continue.
func (s *screen) hold() {
	if s.player != nil {
		if s.player.ended() && !s.player.playing {
			s.seek(0)
		}
		s.player.playing = !s.player.playing
		return
	}
	s.held = !s.held
	if !s.held && s.latest != nil {
		f := s.latest
		s.latest = nil
		s.frame(f)
	}
}

func (s *screen) seek(at float64) {
	s.forget()
	s.player.seek(at, s.frame)
}

// nextQueue selects the next of several queues.
func (s *screen) nextQueue() {
	if s.shown == nil || len(s.shown.queues) < 2 {
		s.say("There is no other queue here.", false)
		return
	}
	for n, name := range s.shown.queues {
		if name == s.shown.queue {
			s.queue = s.shown.queues[(n+1)%len(s.shown.queues)]
			break
		}
	}
	s.shown = look(s.hello, s.shown.frame, s.queue)
}

// state describes what the screen shows now.
func (s *screen) state() line {
	unusual := s.unusual()
	switch {
	case s.player != nil:
		return text(accent, s.player.state())
	case s.lost != "":
		return joined(text(alarm, " LOST "), text(bad, fmt.Sprintf(" %s; the numbers are %d s old", s.lost, int(s.now.Sub(s.since).Seconds()))))
	case s.shown == nil:
		return text(accent, "connecting")
	case s.held:
		return joined(text(alarm, " HELD "), text(accent, " Space continues"+unusual))
	case s.now.Sub(s.since) > 2*time.Second:
		return text(bad, fmt.Sprintf("no news for %d s", int(s.now.Sub(s.since).Seconds())))
	}
	return joined(text(good, "● "), text(plain, "live"), text(kindModified, unusual))
}

// unusual describes the laboratory's settings that differ from the initial ones.
func (s *screen) unusual() (all string) {
	if s.shown == nil {
		return ""
	}
	for _, what := range sortedKeys(s.shown.frame.Laboratory) {
		all += fmt.Sprintf(", %s: %s", what, s.shown.frame.Laboratory[what])
	}
	return all
}
