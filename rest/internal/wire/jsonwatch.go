package wire

import "io"

// NewJSONWatch returns a cutter for a watch. An event of more than max bytes is a frame
// with an error.
func NewJSONWatch(max int) Cutter { return &jsonWatch{max: max} }

// jsonWatch cuts events out of a watch: one JSON object after another. The server
// writes one on each line, but nothing promises that.
type jsonWatch struct {
	max  int
	scan JSONScan
	skip bool // the rest of an event that is too large
}

func (c *jsonWatch) Within() bool { return c.skip }

func (c *jsonWatch) Envelope() Envelope { return Envelope{} }

func (c *jsonWatch) Cut(data []byte) (f Frame, done int, err error) {
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
		// Only reading on finds the end. Where a bracket is missing, that takes for ever:
		// no event comes, which a reflector notices.
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
