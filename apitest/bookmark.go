package apitest

import "time"

// lastBookmark is how long before its end a watch sends a last bookmark, so that
// the client can go on from there.
const lastBookmark = 2 * time.Second

// bookmarks knows when the next bookmark of a watch is due.
type bookmarks struct {
	interval time.Duration
	delay    time.Duration
	end      time.Time
	timer    *time.Timer // nil: never
}

func newBookmarks(start watchStart, interval, delay time.Duration) *bookmarks {
	b := &bookmarks{interval: interval, delay: delay, end: time.Now().Add(start.timeout)}
	switch {
	case !start.bookmarks:
	case start.marker && delay > 0:
		b.timer = time.NewTimer(delay) // the end marker comes late
	default:
		b.next()
	}
	return b
}

// due receives when it is time for a bookmark.
func (b *bookmarks) due() <-chan time.Time {
	if b.timer == nil {
		return nil
	}
	return b.timer.C
}

// next sets the time of the next bookmark.
func (b *bookmarks) next() {
	wait := b.interval
	if left := time.Until(b.end) - lastBookmark; left > 0 {
		wait = min(wait, left)
	}
	wait += b.delay
	if b.timer == nil {
		b.timer = time.NewTimer(wait)
	} else {
		b.timer.Reset(wait)
	}
}

func (b *bookmarks) stop() {
	if b.timer != nil {
		b.timer.Stop()
	}
}
