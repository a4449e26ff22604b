package warmstart

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/kinform/kinform/indexer"
	"k8s.io/apimachinery/pkg/types"
)

const (
	magic   = "kinform\x00"
	format  = 2
	minimum = len(magic) + 4 + 1 + sha256.Size
)

// write writes a file: the header, the entries and the checksum.
func (f *File[T]) write(w io.Writer, entries iter.Seq[indexer.Entry[T]], content header) error {
	sum := sha256.New()
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 64<<10)
	head, err := json.Marshal(content)
	if err != nil {
		return err
	}
	buffer := binary.BigEndian.AppendUint32([]byte(magic), format)
	buffer = appendField(buffer, head)
	if _, err := out.Write(buffer); err != nil {
		return err
	}
	var uidHash [8]byte
	for entry := range entries {
		if err := f.checkAllowed(entry.Key, entry.Object); err != nil {
			return err
		}
		data, err := f.codec.Encode(entry.Object)
		if err != nil {
			return fmt.Errorf("%s: %w", entry.Key, err)
		}
		buffer = appendField(buffer[:0], entry.Key.Namespace)
		buffer = appendField(buffer, entry.Key.Name)
		buffer = appendField(buffer, entry.ResourceVersion)
		binary.BigEndian.PutUint64(uidHash[:], entry.UIDHash)
		buffer = append(buffer, uidHash[:]...)
		buffer = appendField(buffer, data)
		if _, err := out.Write(buffer); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

func appendField[B string | []byte](buffer []byte, field B) []byte {
	buffer = binary.AppendUvarint(buffer, uint64(len(field)))
	return append(buffer, field...)
}

// read reads a whole file, and verifies every byte before it decodes the first object. It reads
// twice, so that it never holds the whole file in memory.
func (f *File[T]) read(file io.ReaderAt, size int64, want header, mode fs.FileMode) ([]indexer.Entry[T], string, error) {
	start := make([]byte, len(magic)+4)
	if size < int64(minimum) {
		return nil, "", damaged("%d bytes are too few", size)
	}
	if _, err := file.ReadAt(start, 0); err != nil {
		return nil, "", err
	}
	if !bytes.HasPrefix(start, []byte(magic)) {
		return nil, "", damaged("it is not a file of package warmstart")
	}
	switch version := binary.BigEndian.Uint32(start[len(magic):]); {
	case version < format:
		return nil, "", fmt.Errorf("%w: format %d of an earlier release does not say whose objects the file holds; this release has format %d, and the next save replaces the file", ErrFormat, version, format)
	case version > format:
		return nil, "", fmt.Errorf("%w: format %d is of a later release; this release has format %d", ErrFormat, version, format)
	}
	body := size - sha256.Size
	if err := verify(file, body); err != nil {
		return nil, "", err
	}
	after := int64(len(start))
	in := &fields{reader: bufio.NewReaderSize(io.NewSectionReader(file, after, body-after), 64<<10), left: body - after}
	return f.decode(in, want, mode)
}

// verify compares the checksum with the bytes before it.
func verify(file io.ReaderAt, body int64) error {
	want := make([]byte, sha256.Size)
	if _, err := file.ReadAt(want, body); err != nil && err != io.EOF {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(file, 0, body)); err != nil {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return damaged("the checksum does not match")
	}
	return nil
}

// decode reads header and objects.
func (f *File[T]) decode(in *fields, want header, mode fs.FileMode) ([]indexer.Entry[T], string, error) {
	var found header
	if err := json.Unmarshal(in.next(), &found); err != nil || in.err != nil {
		return nil, "", damaged("the header cannot be decoded")
	}
	if difference := found.difference(want); difference != "" {
		return nil, "", fmt.Errorf("%w: %s", ErrMismatch, difference)
	}
	if found.Secrets {
		if err := checkPrivate(mode); err != nil {
			return nil, "", err
		}
		if !f.opts.Secrets {
			return nil, "", fmt.Errorf("%w: the file may hold some", ErrSecrets)
		}
	}
	var entries []indexer.Entry[T]
	for in.left > 0 {
		var entry indexer.Entry[T]
		entry.Key = types.NamespacedName{Namespace: in.text(), Name: in.text()}
		entry.ResourceVersion = in.text()
		entry.UIDHash = in.number()
		data := in.next()
		if in.err != nil {
			return nil, "", in.err
		}
		var err error
		if entry.Object, err = f.codec.Decode(data); err != nil {
			return nil, "", damaged("object %s: %w", entry.Key, err)
		}
		if err := f.checkAllowed(entry.Key, entry.Object); err != nil {
			return nil, "", err
		}
		entries = append(entries, entry)
	}
	if len(entries) != found.Count {
		return nil, "", damaged("%d objects instead of %d", len(entries), found.Count)
	}
	return entries, found.ResourceVersion, nil
}

// fields reads length-prefixed fields, and remembers the first error.
type fields struct {
	reader *bufio.Reader
	left   int64
	buffer []byte
	err    error
}

// next returns the next field, which is valid until the next call, or nil after an error.
func (in *fields) next() []byte {
	if in.err != nil {
		return nil
	}
	size, err := binary.ReadUvarint(in.reader)
	if err != nil {
		in.err = damaged("truncated within a length")
		return nil
	}
	in.left -= int64(uvarintLen(size))
	if size > uint64(max(in.left, 0)) {
		in.err = damaged("a field is longer than the rest of the file")
		return nil
	}
	in.left -= int64(size)
	if uint64(cap(in.buffer)) < size {
		in.buffer = make([]byte, size)
	}
	in.buffer = in.buffer[:size]
	if _, err := io.ReadFull(in.reader, in.buffer); err != nil {
		in.err = damaged("reading: %w", err)
		return nil
	}
	return in.buffer
}

func (in *fields) text() string { return string(in.next()) }

// number returns eight bytes without a length as a number, and 0 after an error.
func (in *fields) number() uint64 {
	var number [8]byte
	if in.left -= int64(len(number)); in.err == nil && in.left < 0 {
		in.err = damaged("truncated within a number")
	}
	if in.err != nil {
		return 0
	}
	if _, err := io.ReadFull(in.reader, number[:]); err != nil {
		in.err = damaged("reading: %w", err)
	}
	return binary.BigEndian.Uint64(number[:])
}

// uvarintLen is the number of bytes of a varint as this package writes it. A varint with redundant
// zeros is longer. in.left is then too large, and the reader meets the end of the file early.
func uvarintLen(v uint64) int { return len(binary.AppendUvarint(nil, v)) }
