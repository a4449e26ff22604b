package sharing

import (
	"reflect"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/rest/internal/wire"
)

// The text of managed fields, which is a kilobyte to four, is half of a pod's encoding. That of the
// kubelet has the address of the pod in it, that of a controller is the same in all
// pods of a workload, and both are in fields of one type: so all are looked up, and what is
// missing becomes an entry. The object has the text as it lies in the entry's key. To copy it
// once more was a fifth of what a list of pods allocated.

// textSetter returns a function that lets managed fields have a text without copying it. It
// is nil for other types, and where a build tag of apimachinery lets FieldsV1 keep its text elsewhere.
func textSetter(t reflect.Type) func(at unsafe.Pointer, text string) {
	raw, ok := t, false
	var offset uintptr
	if t == reflect.TypeFor[metav1.FieldsV1]() {
		var field reflect.StructField
		if field, ok = t.FieldByName("Raw"); ok {
			raw, offset = field.Type, field.Offset
		}
	}
	if !ok || raw != reflect.TypeFor[[]byte]() {
		return nil
	}
	return func(at unsafe.Pointer, text string) {
		// Its capacity is its length: whoever appends gets a copy.
		*(*[]byte)(unsafe.Add(at, offset)) = unsafe.Slice(unsafe.StringData(text), len(text))
	}
}

// onlyText finds the text in the message that managed fields are, if there is nothing else in it.
func onlyText(message string) (text string, ok bool) {
	const tag = 1<<3 | wire.TypeBytes
	if message == "" || message[0] != tag {
		return "", false
	}
	from, end, err := wire.Contents(unsafe.Slice(unsafe.StringData(message), len(message)), 1)
	if err != nil || from == end || end != len(message) {
		return "", false
	}
	return message[from:end], true
}

// insertFields stores managed fields that were not found, with a text in their key.
func (s *state) insertFields(missing *entry, set func(unsafe.Pointer, string), to unsafe.Pointer, key, text string) {
	set(to, text)
	missing.inKey = true
	s.insert(missing, key, to, 0)
}
