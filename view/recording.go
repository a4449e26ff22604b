package view

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// MaxRecordingLine is the longest line of a recording that is read, in bytes. A frame has some ten thousand.
const MaxRecordingLine = 8 << 20

// ErrRecording is what reading a recording says, wrapped, if it is none, or not a whole one. The error names the line.
var ErrRecording = errors.New("the recording cannot be read")

// ReadRecording reads what [View.Record] has written, or the page has saved: what the frames are about, and the frames, in the order of their
// times. Frames are read while the loop goes on, one line at a time, so that memory does not grow with the
// recording. A line has at most [MaxRecordingLine] bytes and 100,000 values: see [Unmarshal]. An error is the last thing that the loop is given: it is nil for every frame before. It wraps
// io.ErrUnexpectedEOF as well if the recording ends within a line, because its writer was cut off.
//
// Fields that are not known are skipped. A recording of a newer format is an error.
func ReadRecording(r io.Reader) (*Hello, iter.Seq2[*Frame, error], error) {
	lines := &recordingLines{from: bufio.NewReaderSize(r, 64<<10)}
	first, err := lines.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil, fmt.Errorf("%w: it is empty", ErrRecording)
	case err != nil:
		return nil, nil, err
	case first.Hello == nil:
		return nil, nil, lines.wrong("a recording begins with a field hello, and this has none", nil)
	case first.Hello.Version > FormatVersion:
		return nil, nil, lines.wrong(fmt.Sprintf("it has format %d, and this program knows formats up to %d: open it with a newer kinform", first.Hello.Version, FormatVersion), nil)
	case first.Hello.Version < 1:
		return nil, nil, lines.wrong("its format has no version", nil)
	}
	return first.Hello, lines.frames, nil
}

// recordingLines are the lines of a recording.
type recordingLines struct {
	from *bufio.Reader
	line int     // the number of the last one that was read
	at   float64 // the time of the last frame
}

func (l *recordingLines) frames(yield func(*Frame, error) bool) {
	for {
		line, err := l.next()
		if err == nil {
			err = l.check(line)
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		if !yield(line.Frame, nil) {
			return
		}
	}
}

// check says what is wrong with a line after the first one.
func (l *recordingLines) check(line Line) error {
	switch {
	case line.Hello != nil:
		return l.wrong("a second recording begins here: cut the file before this line", nil)
	case line.Frame == nil:
		return l.wrong("it has no frame", nil)
	case line.Frame.At < l.at:
		return l.wrong(fmt.Sprintf("its time is %.0f ms, after one of %.0f ms: the lines are not in their order", line.Frame.At, l.at), nil)
	}
	l.at = line.Frame.At
	return nil
}

// next reads a line. It returns io.EOF at the end, and skips empty lines.
func (l *recordingLines) next() (line Line, err error) {
	text, whole, err := l.text()
	if err != nil {
		return line, err
	}
	if err := Unmarshal(text, &line); err != nil {
		if !whole && l.line > 1 {
			return line, l.wrong("it ends in the middle of the line: its writer was cut off", io.ErrUnexpectedEOF)
		}
		return line, l.wrong("it is not JSON of a recording", err)
	}
	return line, nil
}

// text returns the next line that is not empty, and whether it has an end.
func (l *recordingLines) text() (text []byte, whole bool, err error) {
	for {
		l.line++
		text, whole = nil, false
		for !whole {
			part, err := l.from.ReadSlice('\n')
			if len(text)+len(part) > MaxRecordingLine {
				return nil, false, l.wrong(fmt.Sprintf("it has more than %d bytes", MaxRecordingLine), nil)
			}
			text = append(text, part...) // The reader uses part again.
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if whole = err == nil; whole {
				break
			}
			if !errors.Is(err, io.EOF) {
				return nil, false, l.wrong("reading failed", err)
			}
			if len(bytes.TrimSpace(text)) == 0 {
				return nil, false, io.EOF
			}
			return text, false, nil
		}
		if len(bytes.TrimSpace(text)) > 0 {
			return text, true, nil
		}
	}
}

// wrong is an error about the last line that was read.
func (l *recordingLines) wrong(what string, cause error) error {
	if cause != nil {
		return fmt.Errorf("%w: line %d: %s: %w", ErrRecording, l.line, what, cause)
	}
	return fmt.Errorf("%w: line %d: %s", ErrRecording, l.line, what)
}

// checkRecording says what is wrong with a whole recording. One that was cut off is shown as far as it goes.
func checkRecording(text []byte) error {
	_, frames, err := ReadRecording(bytes.NewReader(text))
	if err != nil {
		return err
	}
	for _, err := range frames {
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
	}
	return nil
}
