package apitest

import "time"

// lastBookmarkLead is how long before its end a watch sends its last bookmark. The client can
// resume from this bookmark.
const lastBookmarkLead = 2 * time.Second

// bookmarkTimer schedules the bookmarks of a watch.
type bookmarkTimer struct {
	interval time.Duration
	delay    time.Duration
	end      time.Time
	timer    *time.Timer // nil if the watch gets no bookmarks
}

func newBookmarkTimer(start watchStart, interval, delay time.Duration) *bookmarkTimer {
	b := &bookmarkTimer{interval: interval, delay: delay, end: time.Now().Add(start.timeout)}
	switch {
	case !start.bookmarks:
	case start.marker && delay > 0:
		b.timer = time.NewTimer(delay) // A fault delays the end marker.
	default:
		b.next()
	}
	return b
}

// due returns a channel that receives a value when a bookmark is due.
func (b *bookmarkTimer) due() <-chan time.Time {
	if b.timer == nil {
		return nil
	}
	return b.timer.C
}

// next schedules the next bookmark.
func (b *bookmarkTimer) next() {
	wait := b.interval
	if left := time.Until(b.end) - lastBookmarkLead; left > 0 {
		wait = min(wait, left)
	}
	wait += b.delay
	if b.timer == nil {
		b.timer = time.NewTimer(wait)
	} else {
		b.timer.Reset(wait)
	}
}

func (b *bookmarkTimer) stop() {
	if b.timer != nil {
		b.timer.Stop()
	}
}
