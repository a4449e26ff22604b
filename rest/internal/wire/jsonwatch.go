package wire

import "io"

// NewJSONWatch returns a Framer for a watch. An event of more than max bytes becomes a frame with
// an error.
func NewJSONWatch(max int) Framer { return &jsonWatch{max: max} }

// jsonWatch splits the body of a watch, a sequence of JSON objects, into events. Servers write each
// event on a line, but no specification requires it.
type jsonWatch struct {
	max  int
	scan JSONScan
	skip bool // the rest of an oversized event is being skipped
}

func (c *jsonWatch) Incomplete() bool { return c.skip }

func (c *jsonWatch) Envelope() Envelope { return Envelope{} }

func (c *jsonWatch) NextFrame(data []byte) (f Frame, done int, err error) {
	if c.skip {
		var ended bool
		done, ended = c.scan.skip(data)
		if c.skip = !ended; c.skip {
			return Frame{}, done, nil
		}
	}
	done = Space(data, done)
	rest := data[done:]
	if len(rest) == 0 {
		return Frame{}, done, nil
	}
	if rest[0] != '{' {
		return Frame{}, done, NotJSON(rest)
	}
	length, ok := c.scan.End(rest)
	switch {
	case !ok && len(rest) <= c.max:
		return Frame{}, done, nil
	case !ok || length > c.max:
		// The scan finds the end of the event only as more bytes arrive. If a bracket is missing,
		// the event never ends, and no further event comes. A reflector notices the silence.
		f, length, c.skip = oversizedJSON(rest, length, ok, c.max, &c.scan)
		return f, done + length, nil
	}
	return Frame{Data: rest[:length], Size: c.scan.Size}, done + length, nil
}

func (c *jsonWatch) End(rest []byte) error {
	if c.skip || len(rest) > 0 {
		return Malformed("the body ends within an event: %w", io.ErrUnexpectedEOF)
	}
	return io.EOF
}
