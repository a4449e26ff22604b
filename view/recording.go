package view

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// MaxRecordingLine is the maximum length of a line in a recording, in bytes. A typical frame has
// some ten thousand bytes.
const MaxRecordingLine = 8 << 20

// ErrRecording is wrapped by all errors of reading a recording: the file is not a recording, or the
// recording is incomplete. The error names the line.
var ErrRecording = errors.New("the recording cannot be read")

// ReadRecording reads a recording of [View.Record] or of the page: the hello line, and an iterator
// over the frames in the order of their times. The iterator reads one line at a time, so memory
// does not grow with the recording. A line has at most [MaxRecordingLine] bytes and 100,000 values:
// see [Unmarshal].
//
// The iterator yields a nil error with each frame. If reading fails, the error is the last element.
// It also wraps io.ErrUnexpectedEOF if the recording ends in the middle of a line, because its
// writer was interrupted. Unknown fields are skipped. A recording of a newer format is an error.
func ReadRecording(r io.Reader) (*Hello, iter.Seq2[*Frame, error], error) {
	lines := &recordingLines{from: bufio.NewReaderSize(r, 64<<10)}
	first, err := lines.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil, fmt.Errorf("%w: the file is empty", ErrRecording)
	case err != nil:
		return nil, nil, err
	case first.Hello == nil:
		return nil, nil, lines.errorf("the first line has no field hello, but a recording begins with it", nil)
	case first.Hello.Version > FormatVersion:
		return nil, nil, lines.errorf(fmt.Sprintf("the format is %d, but this program knows formats up to %d: open the recording with a newer kinform", first.Hello.Version, FormatVersion), nil)
	case first.Hello.Version < 1:
		return nil, nil, lines.errorf("the version of the format is missing", nil)
	}
	return first.Hello, lines.frames, nil
}

// recordingLines reads the lines of a recording.
type recordingLines struct {
	from *bufio.Reader
	line int     // the number of the last line read
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

// check returns an error if the line must not follow the lines before it.
func (l *recordingLines) check(line Line) error {
	switch {
	case line.Hello != nil:
		return l.errorf("a second recording begins here: cut the file before this line", nil)
	case line.Frame == nil:
		return l.errorf("no frame", nil)
	case line.Frame.At < l.at:
		return l.errorf(fmt.Sprintf("the time is %.0f ms, but an earlier line has %.0f ms: the lines are out of order", line.Frame.At, l.at), nil)
	}
	l.at = line.Frame.At
	return nil
}

// next reads a line, and skips empty lines. It returns io.EOF at the end.
func (l *recordingLines) next() (line Line, err error) {
	text, whole, err := l.text()
	if err != nil {
		return line, err
	}
	if err := Unmarshal(text, &line); err != nil {
		if !whole && l.line > 1 {
			return line, l.errorf("cut off: the writer was interrupted", io.ErrUnexpectedEOF)
		}
		return line, l.errorf("not JSON of a recording", err)
	}
	return line, nil
}

// text returns the next line that is not empty, and whether the line ends with a newline.
func (l *recordingLines) text() (text []byte, whole bool, err error) {
	for {
		l.line++
		text, whole = nil, false
		for !whole {
			part, err := l.from.ReadSlice('\n')
			if len(text)+len(part) > MaxRecordingLine {
				return nil, false, l.errorf(fmt.Sprintf("more than %d bytes", MaxRecordingLine), nil)
			}
			text = append(text, part...) // the reader reuses the bytes of part
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if whole = err == nil; whole {
				break
			}
			if !errors.Is(err, io.EOF) {
				return nil, false, l.errorf("reading failed", err)
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

// errorf returns an error for the last line read.
func (l *recordingLines) errorf(what string, cause error) error {
	if cause != nil {
		return fmt.Errorf("%w: line %d: %s: %w", ErrRecording, l.line, what, cause)
	}
	return fmt.Errorf("%w: line %d: %s", ErrRecording, l.line, what)
}

// checkRecording returns an error if a recording is invalid. A recording that was cut off is valid:
// the page shows it up to the cut.
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
