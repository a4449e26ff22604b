package wire

import (
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
)

// NewJSONList returns a Framer for a list. An item of more than max bytes becomes a frame with an
// error. NextFrame fails if the other fields of the list have more than max bytes together, or more
// than maxOtherFieldsBytes. It also fails at a second "items" field, because it has already
// returned the items of the first field. NextFrame calls the function check once it has read the
// kind of the list, and fails if this function fails. The argument apiVersion of check may be
// empty.
func NewJSONList(max int, check func(apiVersion, kind string) error) Framer {
	return &jsonList{max: max, check: check}
}

// jsonList finds the items of a list. The fields of the list may come in any order: typed lists
// have metadata before the items, and lists of custom resources after them.
type jsonList struct {
	max      int
	check    func(apiVersion, kind string) error // see NewJSONList
	state    jsonState
	scan     JSONScan // of the current value
	field    string   // the field whose value comes next
	key      []byte   // the same field, as encoded
	listed   bool     // the items have been read
	envelope Envelope
	done     int64 // bytes before the data, for messages
	skip     bool  // the rest of an oversized item is being skipped
}

// errDuplicateItems is the error for a list with a second "items" field, which would replace the
// first field.
var errDuplicateItems = Malformed("the list has two fields with items")

// jsonState says which syntax element must come next.
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

// String names the syntax element.
func (s jsonState) String() string {
	return [...]string{
		wantObject: "an object", wantFirstKey: "a key or }", wantKey: "a key", wantColon: "a colon", wantValue: "a value",
		wantComma: "a comma or }", wantFirstItem: "an item or ]", wantItem: "an item", wantItemComma: "a comma or ]", wantEnd: "the end",
	}[s]
}

func (c *jsonList) Incomplete() bool { return true }

func (c *jsonList) Envelope() Envelope { return c.envelope }

func (c *jsonList) NextFrame(data []byte) (f Frame, done int, err error) {
	f, done, err = c.scanFrame(data)
	c.done += int64(done)
	return f, done, err
}

func (c *jsonList) scanFrame(data []byte) (f Frame, done int, err error) {
	for {
		if c.skip {
			n, ended := c.scan.skip(data[done:])
			done += n
			if c.skip = !ended; c.skip {
				return Frame{}, done, nil
			}
		}
		done = Space(data, done)
		rest := data[done:]
		if len(rest) == 0 {
			return Frame{}, done, nil
		}
		if next, ok := c.punctuation(rest[0]); ok {
			if next == wantFirstItem {
				if c.listed {
					return Frame{}, done, errDuplicateItems
				}
				c.listed = true
			}
			c.state = next
			done++
			continue
		}
		switch c.state {
		case wantFirstKey, wantKey, wantValue, wantFirstItem, wantItem:
		default:
			return Frame{}, done, c.unexpected(rest, done)
		}
		length, ok := c.scan.End(rest)
		isItem := c.state == wantFirstItem || c.state == wantItem
		limit := c.max
		if !isItem {
			limit = min(limit, maxOtherFieldsBytes) - len(c.envelope.OtherFields)
		}
		switch {
		case !ok && len(rest) <= limit:
			return Frame{}, done, nil
		case isItem && (!ok || length > c.max):
			c.state = wantItemComma
			f, length, c.skip = oversizedJSON(rest, length, ok, c.max, &c.scan)
			return f, done + length, nil
		case !ok || length > limit:
			return Frame{}, done, fmt.Errorf("%w: the fields beside the items have more than %d bytes", ErrTooLarge, min(c.max, maxOtherFieldsBytes))
		case length == 0:
			return Frame{}, done, c.unexpected(rest, done)
		}
		part := rest[:length]
		switch c.state {
		case wantFirstItem, wantItem:
			c.state = wantItemComma
			return Frame{Data: part, Size: c.scan.Size}, done + length, nil
		case wantValue:
			c.state = wantComma
			err = c.read(part)
		default:
			if part[0] != '"' {
				return Frame{}, done, c.unexpected(rest, done)
			}
			c.state = wantColon
			c.field = string(JSONText(part))
			c.key = append(c.key[:0], part...)
		}
		done += length
		if err != nil {
			return Frame{}, done, err
		}
	}
}

// punctuation returns the state after a byte of punctuation. ok is false if the syntax does not
// allow this byte in the current state.
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

// read reads a field of the list, other than its items.
func (c *jsonList) read(part []byte) error {
	if c.field != "items" {
		fields := append(append(c.envelope.OtherFields, ','), c.key...)
		c.envelope.OtherFields = append(append(fields, ':'), part...)
	}
	switch c.field {
	case "kind":
		c.envelope.Kind = string(JSONText(part))
		return c.check(c.envelope.APIVersion, c.envelope.Kind)
	case "apiVersion":
		if c.envelope.APIVersion = string(JSONText(part)); c.envelope.Kind != "" {
			return c.check(c.envelope.APIVersion, c.envelope.Kind)
		}
	case "metadata":
		var meta metav1.ListMeta
		if err := kjson.UnmarshalCaseSensitivePreserveInts(part, &meta); err != nil {
			return Malformed("metadata of the list: %w", err)
		}
		return c.envelope.setListMeta(&meta)
	case "items":
		if string(part) != "null" {
			return Malformed("the items of the list are not an array")
		}
		if c.listed {
			return errDuplicateItems
		}
	}
	return nil
}

func (c *jsonList) unexpected(rest []byte, done int) error {
	if c.state == wantObject {
		return NotJSON(rest)
	}
	return Malformed("JSON: %s is expected at byte %d, not %q", c.state, c.done+int64(done), rest[0])
}

func (c *jsonList) End(rest []byte) error {
	switch {
	case c.state == wantObject && len(rest) == 0:
		return Malformed("the body is empty")
	case c.state != wantEnd || len(rest) > 0:
		return Malformed("the body ends within the list: %w", io.ErrUnexpectedEOF)
	case c.envelope.Kind == "":
		return errNoKind
	}
	return io.EOF
}

// oversizedJSON returns the frame for an item or event that is too large. The slice rest starts
// with the item, and has more than limit bytes of it. The frame has the first limit bytes, because
// in JSON the name may come late. If the argument ended is true, the item is complete and has
// length bytes. The result done is the number of bytes of rest that the Framer no longer needs. If
// the result on is true, scan must skip the bytes that follow.
func oversizedJSON(rest []byte, length int, ended bool, limit int, scan *JSONScan) (f Frame, done int, on bool) {
	f = Frame{Data: rest[:limit], Err: fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, limit)}
	if ended {
		return f, length, false
	}
	done, scan.at = scan.at, 0
	return f, done, true
}

// NotJSON returns the error for a body that is not a JSON object.
func NotJSON(body []byte) error {
	return Malformed("a JSON object is expected, not %q", BodyExcerpt(body))
}
