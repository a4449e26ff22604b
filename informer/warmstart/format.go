package warmstart

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/kinform/kinform/indexer"
	"k8s.io/apimachinery/pkg/types"
)

const (
	magic   = "kinform\x00"
	format  = 1
	minimum = len(magic) + 4 + 1 + sha256.Size
)

// header says what is in a file.
type header struct {
	Cluster         string   `json:"cluster,omitempty"`
	Resource        string   `json:"resource"`
	Type            string   `json:"type"`
	Codec           string   `json:"codec"`
	Namespaces      []string `json:"namespaces,omitempty"`
	LabelSelector   string   `json:"labelSelector,omitempty"`
	FieldSelector   string   `json:"fieldSelector,omitempty"`
	Projection      string   `json:"projection,omitempty"`
	ResourceVersion string   `json:"resourceVersion"`
	Count           int      `json:"count"`
}

// difference says what is different from what is wanted, "" if nothing is.
func (h header) difference(want header) string {
	have, wanted := reflect.ValueOf(h), reflect.ValueOf(want)
	for i := range have.NumField() {
		if a, b := have.Field(i).Interface(), wanted.Field(i).Interface(); !reflect.DeepEqual(a, b) {
			return fmt.Sprintf("its %s is %q instead of %q", have.Type().Field(i).Name, a, b)
		}
	}
	return ""
}

// write writes the content of a store.
func (f *File[T]) write(w io.Writer, snapshot *indexer.Snapshot[T]) error {
	sum := sha256.New()
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 64<<10)
	head, err := json.Marshal(f.content(snapshot.ResourceVersion(), snapshot.Len()))
	if err != nil {
		return err
	}
	buffer := binary.BigEndian.AppendUint32([]byte(magic), format)
	buffer = appendField(buffer, head)
	if _, err := out.Write(buffer); err != nil {
		return err
	}
	var uidHash [8]byte
	for entry := range snapshot.Entries() {
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

// read reads a whole file, of which it has verified every byte before it decodes
// the first object. It reads twice, so that it never holds the file.
func (f *File[T]) read(file io.ReaderAt, size int64) ([]indexer.Entry[T], string, error) {
	start := make([]byte, len(magic)+4)
	if size < int64(minimum) {
		return nil, "", damaged("it has %d bytes", size)
	}
	if _, err := file.ReadAt(start, 0); err != nil {
		return nil, "", err
	}
	if !bytes.HasPrefix(start, []byte(magic)) {
		return nil, "", damaged("it is no such file")
	}
	if version := binary.BigEndian.Uint32(start[len(magic):]); version > format {
		return nil, "", fmt.Errorf("%w: %d, known up to %d", ErrNewerFormat, version, format)
	}
	body := size - sha256.Size
	if err := verify(file, body); err != nil {
		return nil, "", err
	}
	after := int64(len(start))
	in := &fields{reader: bufio.NewReaderSize(io.NewSectionReader(file, after, body-after), 64<<10), left: body - after}
	return f.decode(in)
}

// verify compares the checksum with what stands before it.
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
		return damaged("its checksum is another")
	}
	return nil
}

// decode reads header and objects.
func (f *File[T]) decode(in *fields) ([]indexer.Entry[T], string, error) {
	var found header
	if err := json.Unmarshal(in.next(), &found); err != nil || in.err != nil {
		return nil, "", damaged("its header is unreadable")
	}
	if difference := found.difference(f.content(found.ResourceVersion, found.Count)); difference != "" {
		return nil, "", fmt.Errorf("%w: %s", ErrOther, difference)
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
		entries = append(entries, entry)
	}
	if len(entries) != found.Count {
		return nil, "", damaged("it has %d objects instead of %d", len(entries), found.Count)
	}
	return entries, found.ResourceVersion, nil
}

// fields reads fields with a length before them, and remembers the first error.
type fields struct {
	reader *bufio.Reader
	left   int64
	buffer []byte
	err    error
}

// next returns the next field, which is good until the next call, and nil after an
// error.
func (in *fields) next() []byte {
	if in.err != nil {
		return nil
	}
	size, err := binary.ReadUvarint(in.reader)
	if err != nil {
		in.err = damaged("it ends within a length")
		return nil
	}
	in.left -= int64(uvarintLen(size))
	if size > uint64(max(in.left, 0)) {
		in.err = damaged("a field is longer than what is left")
		return nil
	}
	in.left -= int64(size)
	if uint64(cap(in.buffer)) < size {
		in.buffer = make([]byte, size)
	}
	in.buffer = in.buffer[:size]
	if _, err := io.ReadFull(in.reader, in.buffer); err != nil {
		in.err = damaged("it cannot be read: %w", err)
		return nil
	}
	return in.buffer
}

func (in *fields) text() string { return string(in.next()) }

// number returns eight bytes without a length as a number, and 0 after an error.
func (in *fields) number() uint64 {
	var number [8]byte
	if in.left -= int64(len(number)); in.err == nil && in.left < 0 {
		in.err = damaged("it ends within a number")
	}
	if in.err != nil {
		return 0
	}
	if _, err := io.ReadFull(in.reader, number[:]); err != nil {
		in.err = damaged("it cannot be read: %w", err)
	}
	return binary.BigEndian.Uint64(number[:])
}

// uvarintLen is how many bytes a length has as this package writes it. One with
// needless zeros has more: then the reader ends first.
func uvarintLen(v uint64) int { return len(binary.AppendUvarint(nil, v)) }
