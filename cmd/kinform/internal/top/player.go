package top

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sort"
	"time"

	"github.com/kinform/kinform/view"
)

// player plays a recording, with its own clock.
type player struct {
	hello  *view.Hello
	frames []frameSpan
	text   []byte
	note   string

	at      float64 // in milliseconds since the first frame
	next    int
	speed   int // index in speeds
	playing bool
}

// frameSpan is the position of a frame in the recording's text, and its time.
type frameSpan struct {
	at       float64
	from, to int
}

var speeds = []float64{0.1, 0.25, 0.5, 1, 2, 5, 10}

const normalSpeed = 3

// newPlayer checks the whole recording, so that errors are reported before anything is shown. Each
// frame is decoded again when it is shown.
func newPlayer(text []byte) (*player, error) {
	hello, frames, err := view.ReadRecording(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	hello.Actions = nil // The actions belong to the recorded program.
	sanitize(hello)
	p := &player{hello: hello, text: text, speed: normalSpeed, playing: true}
	places := linesOf(text)
	n := 1 // the first line after the hello line
	for f, err := range frames {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			p.note = "The recording ends in the middle of a line: the writer was interrupted."
			break
		}
		if err != nil {
			return nil, err
		}
		p.frames = append(p.frames, frameSpan{f.At, places[n].from, places[n].to})
		n++
	}
	if len(p.frames) == 0 {
		return nil, fmt.Errorf("%w: no frame", view.ErrRecording)
	}
	first := p.frames[0].at
	for n := range p.frames {
		p.frames[n].at -= first
	}
	return p, nil
}

// linesOf returns the positions of all lines that are not empty.
func linesOf(text []byte) (all []frameSpan) {
	for from := 0; from < len(text); {
		to := len(text)
		if n := bytes.IndexByte(text[from:], '\n'); n >= 0 {
			to = from + n
		}
		if len(bytes.TrimSpace(text[from:to])) > 0 {
			all = append(all, frameSpan{from: from, to: to})
		}
		from = to + 1
	}
	return all
}

func (p *player) length() float64 { return p.frames[len(p.frames)-1].at }

func (p *player) ended() bool { return p.next >= len(p.frames) }

// frame decodes a frame.
func (p *player) frame(n int) *view.Frame {
	var l view.Line
	place := p.frames[n]
	if err := view.Unmarshal(p.text[place.from:place.to], &l); err != nil || l.Frame == nil {
		return &view.Frame{} // cannot happen: newPlayer has checked it
	}
	sanitize(l.Frame)
	return l.Frame
}

// maxAdvance limits how much time passes in one step. A process that was stopped misses the rest.
const maxAdvance = 500 * time.Millisecond

// advance advances the clock, and calls show with the frames that are due.
func (p *player) advance(d time.Duration, show func(*view.Frame)) {
	if !p.playing {
		return
	}
	p.at = min(p.at+float64(min(d, maxAdvance).Microseconds())/1000*speeds[p.speed], p.length())
	for ; !p.ended() && p.frames[p.next].at <= p.at; p.next++ {
		show(p.frame(p.next))
	}
	if p.ended() {
		p.playing = false
	}
}

// seek goes to a time. The caller must reset the pictures.
func (p *player) seek(at float64, show func(*view.Frame)) {
	p.at = min(max(at, 0), p.length())
	n := sort.Search(len(p.frames), func(n int) bool { return p.frames[n].at > p.at })
	p.next = max(n-1, 0)
	show(p.frame(p.next))
	p.next++
}

// stepForward shows the next frame.
func (p *player) stepForward(show func(*view.Frame)) {
	p.playing = false
	if !p.ended() {
		p.at = p.frames[p.next].at
		show(p.frame(p.next))
		p.next++
	}
}

// previousTime returns the time of the frame before the one that is shown.
func (p *player) previousTime() float64 { return p.frames[max(p.next-2, 0)].at }

// state describes the state of the player for the screen.
func (p *player) state() string {
	how := "paused"
	switch {
	case p.playing:
		how = fmt.Sprintf("%g×", speeds[p.speed])
	case p.ended():
		how = "at its end"
	}
	return fmt.Sprintf("recording, %s, %s of %s", how, clock(p.at), clock(p.length()))
}

func clock(ms float64) string {
	tenths := int(ms / 100)
	return fmt.Sprintf("%d:%02d.%d", tenths/600, tenths/10%60, tenths%10)
}
