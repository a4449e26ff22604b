package rest

import (
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
)

// jsonList cuts the items out of a list. The fields of the list may come in any
// order: typed lists have metadata before the items, lists of custom resources
// have it after them.
type jsonList struct {
	max    int
	of     *kinds // what the items may be
	state  jsonState
	scan   jsonScan // of the value that is being read
	field  string   // the field of the list whose value comes next
	around envelope
	done   int64 // bytes, for messages
	skip   bool  // an item is on its way that is dropped
}

// jsonState is what comes next.
type jsonState uint8

const (
	wantObject jsonState = iota
	wantFirstKey
	wantKey
	wantColon
	wantValue
	wantComma
	wantFirstItem
	wantItem
	wantItemComma
	wantEnd
)

// String says what is expected.
func (s jsonState) String() string {
	return [...]string{
		wantObject: "an object", wantFirstKey: "a key or }", wantKey: "a key", wantColon: "a colon", wantValue: "a value",
		wantComma: "a comma or }", wantFirstItem: "an item or ]", wantItem: "an item", wantItemComma: "a comma or ]", wantEnd: "the end",
	}[s]
}

func (c *jsonList) within() bool { return true }

func (c *jsonList) envelope() envelope { return c.around }

func (c *jsonList) cut(data []byte) (f frame, done int, err error) {
	f, done, err = c.first(data)
	c.done += int64(done)
	return f, done, err
}

func (c *jsonList) first(data []byte) (f frame, done int, err error) {
	for {
		if c.skip {
			n, ended := c.scan.skip(data[done:])
			done += n
			if c.skip = !ended; c.skip {
				return frame{}, done, nil
			}
		}
		done += spaces(data[done:])
		rest := data[done:]
		if len(rest) == 0 {
			return frame{}, done, nil
		}
		if next, ok := c.punctuation(rest[0]); ok {
			c.state = next
			done++
			continue
		}
		switch c.state {
		case wantFirstKey, wantKey, wantValue, wantFirstItem, wantItem:
		default:
			return frame{}, done, c.unexpected(rest, done)
		}
		length, ok := c.scan.end(rest)
		isItem := c.state == wantFirstItem || c.state == wantItem
		switch {
		case !ok && len(rest) <= c.max:
			return frame{}, done, nil
		case isItem && (!ok || length > c.max):
			c.state = wantItemComma
			f, length, c.skip = oversizedJSON(rest, length, ok, c.max, &c.scan)
			return f, done + length, nil
		case !ok || length > c.max:
			return frame{}, done, fmt.Errorf("%w: a part of the list has more than %d bytes", ErrTooLarge, c.max)
		case length == 0:
			return frame{}, done, c.unexpected(rest, done)
		}
		part := rest[:length]
		switch c.state {
		case wantFirstItem, wantItem:
			c.state = wantItemComma
			return frame{data: part, size: c.scan.size}, done + length, nil
		case wantValue:
			c.state = wantComma
			err = c.read(part)
		default:
			if part[0] != '"' {
				return frame{}, done, c.unexpected(rest, done)
			}
			c.state = wantColon
			c.field = string(jsonText(part))
		}
		done += length
		if err != nil {
			return frame{}, done, err
		}
	}
}

// punctuation returns the state after a byte of punctuation, if it may come now.
func (c *jsonList) punctuation(b byte) (next jsonState, ok bool) {
	switch {
	case c.state == wantObject && b == '{':
		return wantFirstKey, true
	case c.state == wantColon && b == ':':
		return wantValue, true
	case c.state == wantValue && b == '[' && c.field == "items":
		return wantFirstItem, true
	case c.state == wantItemComma && b == ',':
		return wantItem, true
	case (c.state == wantFirstItem || c.state == wantItemComma) && b == ']':
		return wantComma, true
	case c.state == wantComma && b == ',':
		return wantKey, true
	case (c.state == wantFirstKey || c.state == wantComma) && b == '}':
		return wantEnd, true
	}
	return 0, false
}

// read takes note of a field of the list other than its items.
func (c *jsonList) read(part []byte) error {
	switch c.field {
	case "kind":
		c.around.kind = string(jsonText(part))
		return c.of.checkList(c.around.apiVersion, c.around.kind)
	case "apiVersion":
		if c.around.apiVersion = string(jsonText(part)); c.around.kind != "" {
			return c.of.checkList(c.around.apiVersion, c.around.kind)
		}
	case "metadata":
		var meta metav1.ListMeta
		if err := kjson.UnmarshalCaseSensitivePreserveInts(part, &meta); err != nil {
			return malformed("metadata of the list: %w", err)
		}
		return c.around.take(&meta)
	case "items":
		if string(part) != "null" {
			return malformed("the items of the list are no array")
		}
	}
	return nil
}

func (c *jsonList) unexpected(rest []byte, done int) error {
	if c.state == wantObject {
		return notJSON(rest)
	}
	return malformed("JSON: %s is expected at byte %d, not %q", c.state, c.done+int64(done), rest[0])
}

func (c *jsonList) end(rest []byte) error {
	switch {
	case c.state == wantObject && len(rest) == 0:
		return malformed("the body is empty")
	case c.state != wantEnd || len(rest) > 0:
		return malformed("the body ends within the list: %w", io.ErrUnexpectedEOF)
	case c.around.kind == "":
		return errNoKind
	}
	return io.EOF
}

// oversizedJSON is the frame for an item or event that is skipped: its start, with as
// much of it as a good one may have, for in JSON the name may come late. rest has more
// than that of it, or all of it, which is then length bytes. done is how many of them
// are done with, and on says whether more will come, which scan is to skip.
func oversizedJSON(rest []byte, length int, ended bool, limit int, scan *jsonScan) (f frame, done int, on bool) {
	f = frame{data: rest[:limit], err: fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, limit)}
	if ended {
		return f, length, false
	}
	done, scan.at = scan.at, 0
	return f, done, true
}

// jsonWatch cuts events out of a watch: one JSON object after another. The server
// writes one on each line, but nothing promises that.
type jsonWatch struct {
	max  int
	scan jsonScan
	skip bool // an event is on its way that is dropped
}

func (c *jsonWatch) within() bool { return c.skip }

func (c *jsonWatch) envelope() envelope { return envelope{} }

func (c *jsonWatch) cut(data []byte) (f frame, done int, err error) {
	if c.skip {
		var ended bool
		done, ended = c.scan.skip(data)
		if c.skip = !ended; c.skip {
			return frame{}, done, nil
		}
	}
	done += spaces(data[done:])
	rest := data[done:]
	if len(rest) == 0 {
		return frame{}, done, nil
	}
	if rest[0] != '{' {
		return frame{}, done, notJSON(rest)
	}
	length, ok := c.scan.end(rest)
	switch {
	case !ok && len(rest) <= c.max:
		return frame{}, done, nil
	case !ok || length > c.max:
		// The end is known only by reading on. Where a bracket is missing, that is for
		// ever, in silence, which whoever reads the watch notices.
		f, length, c.skip = oversizedJSON(rest, length, ok, c.max, &c.scan)
		return f, done + length, nil
	}
	return frame{data: rest[:length], size: c.scan.size}, done + length, nil
}

func (c *jsonWatch) end(rest []byte) error {
	if c.skip || len(rest) > 0 {
		return malformed("the body ends within an event: %w", io.ErrUnexpectedEOF)
	}
	return io.EOF
}

// notJSON is the error for anything else where an object is expected.
func notJSON(body []byte) error {
	return malformed("a JSON object is expected, not %q", beginning(body))
}
