package top

import (
	"context"
	"fmt"
	"maps"
	"slices"
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

// screen is the content of the terminal, and its reactions to keys. It does not depend on the
// terminal. It receives keys, lines and the time one after another, and draws lines of text. It has
// no goroutines.
type screen struct {
	page *page

	// follow switches to another pipeline, and returns the number of its stream. start runs a slow
	// function in the background, and passes its result to handleResult.
	follow func(name string) int
	start  func(func(ctx context.Context) any)

	width, height int
	colors        palette
	now           time.Time
	mode          mode
	quit          bool

	stream  int
	name    string // name of the shown pipeline
	hello   *view.Hello
	shown   *frameData
	latest  *view.Frame // the newest frame, even while the picture is frozen
	queue   string      // name of the selected queue
	history *numberHistory
	recent  *recentEvents

	box         int // selected by the keys 1 to 7; 0 for none
	frozen      bool
	missed      uint64 // number of missed frames since the stream began
	lost        string
	lastFrameAt time.Time // time of the last frame, or of the loss of the stream

	message    string
	messageBad bool
	messageAt  time.Time

	index  index
	menu   menu
	scroll int
}

// newScreen returns the screen of a page, for a terminal of unknown size.
func newScreen(p *page, now time.Time) *screen {
	s := &screen{page: p, width: 80, height: 24, now: now, lastFrameAt: now, colors: paletteFor(unknownBackground), follow: func(string) int { return 0 }, start: func(func(context.Context) any) {}}
	s.menu.values = map[string]map[string]string{}
	s.reset()
	return s
}

// maxShownPipelines is the largest number of pipelines for which the screen does not begin with the
// index.
const maxShownPipelines = 8

// begin shows the first pipeline of a page, or the index if there are many.
func (s *screen) begin(all view.Pipelines) {
	s.index.update(all, s.now)
	if len(all.Pipelines) > maxShownPipelines {
		s.mode = indexMode
		return
	}
	name := ""
	if len(all.Pipelines) > 0 {
		name = all.Pipelines[0].Name
	}
	s.choose(name)
}

// choose shows a pipeline.
func (s *screen) choose(name string) {
	s.name, s.mode, s.lost, s.hello = name, boxesMode, "", nil
	s.reset()
	s.stream = s.follow(name)
}

// reset drops all frames and events.
func (s *screen) reset() {
	s.shown, s.latest, s.missed = nil, nil, 0
	s.history, s.recent = newNumberHistory(), newRecentEvents()
}

// handleHello handles the first line of a stream. If it is the same pipeline again after a
// reconnect, the screen keeps its frames and events.
func (s *screen) handleHello(h *view.Hello) {
	if s.hello != nil && s.hello != h && (s.hello.Name != h.Name || s.hello.Start != h.Start) {
		s.hello = h
		s.reset()
	}
	s.hello = h
	s.name = h.Name
	s.menu.load(h)
}

// handleUpdate handles the content of a stream.
func (s *screen) handleUpdate(h streamUpdate) {
	if h.stream != s.stream {
		return
	}
	if h.hello != nil {
		s.handleHello(h.hello)
	}
	if h.lost != "" && s.lost == "" {
		s.lastFrameAt = s.now
	}
	s.lost = h.lost
	if h.frame != nil && s.hello != nil {
		s.lastFrameAt = s.now
		s.handleFrame(h.frame)
	}
}

// handleFrame handles a frame. While the picture is frozen, the frame is not shown.
func (s *screen) handleFrame(f *view.Frame) {
	if s.latest != nil && f.Seq > s.latest.Seq+1 {
		s.missed += f.Seq - s.latest.Seq - 1
	}
	s.latest = f
	shown := newFrameData(s.hello, f, s.queue)
	s.history.add(s.hello.Numbers, shown.boxes, f.At)
	if s.frozen {
		return
	}
	s.shown = shown
	s.recent.frame(shown)
}

// handleResult handles the result of a background function.
func (s *screen) handleResult(result any) {
	switch r := result.(type) {
	case actionResult:
		s.menu.busy--
		if r.err != nil {
			s.showMessage("✗ "+safe(r.err.Error()), true)
		} else {
			s.showMessage(r.message, false)
		}
	case indexResult:
		s.index.requested = false
		if r.err != nil {
			s.index.failed = safe(r.err.Error())
		} else {
			s.index.update(r.pipelines, s.now)
		}
	}
}

// showMessage shows a sentence for some seconds.
func (s *screen) showMessage(what string, wrong bool) {
	s.message, s.messageBad, s.messageAt = what, wrong, s.now
}

const messageTTL = 12 * time.Second

// tick advances the clock. It reports whether anything on the screen has changed.
func (s *screen) tick(now time.Time) (changed bool) {
	second := now.Truncate(time.Second) != s.now.Truncate(time.Second)
	s.now = now
	if s.message != "" && now.Sub(s.messageAt) > messageTTL {
		s.message, changed = "", true
	}
	if s.mode == indexMode && second {
		s.requestIndex()
	}
	return changed || second
}

// toggleFrozen freezes the picture, or lets it continue.
func (s *screen) toggleFrozen() {
	s.frozen = !s.frozen
	if !s.frozen && s.latest != nil {
		f := s.latest
		s.latest = nil
		s.handleFrame(f)
	}
}

// nextQueue selects the next of several queues.
func (s *screen) nextQueue() {
	if s.shown == nil || len(s.shown.queues) < 2 {
		s.showMessage("There is no other queue here.", false)
		return
	}
	for n, name := range s.shown.queues {
		if name == s.shown.queue {
			s.queue = s.shown.queues[(n+1)%len(s.shown.queues)]
			break
		}
	}
	s.shown = newFrameData(s.hello, s.shown.frame, s.queue)
}

// state describes what the screen shows now.
func (s *screen) state() line {
	unusual := s.changedSettings()
	switch {
	case s.lost != "":
		return joined(text(alarm, " LOST "), text(bad, fmt.Sprintf(" %s; the numbers are %d s old", s.lost, int(s.now.Sub(s.lastFrameAt).Seconds()))))
	case s.shown == nil:
		return text(accent, "connecting")
	case s.frozen:
		return joined(text(alarm, " HELD "), text(accent, " Space continues"+unusual))
	case s.now.Sub(s.lastFrameAt) > 2*time.Second:
		return text(bad, fmt.Sprintf("no news for %d s", int(s.now.Sub(s.lastFrameAt).Seconds())))
	}
	return joined(text(good, "● "), text(plain, "live"), text(kindModified, unusual))
}

// changedSettings describes the laboratory's settings that differ from the initial ones.
func (s *screen) changedSettings() (all string) {
	if s.shown == nil {
		return ""
	}
	for _, what := range slices.Sorted(maps.Keys(s.shown.frame.Laboratory)) {
		all += fmt.Sprintf(", %s: %s", what, s.shown.frame.Laboratory[what])
	}
	return all
}
