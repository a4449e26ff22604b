package sharing

import (
	"reflect"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/rest/internal/wire"
)

// The text of managed fields has one to four kilobytes, and is half of a pod's encoding. Some of
// these texts repeat: a controller's text is the same in all pods of a workload, but the kubelet's
// text contains the address of the pod. Both are values of the same field, so the decoder looks up
// every text, and makes an entry if it is missing. The entry's key is the object's own text. A copy
// would be costly: copies of all texts would be a fifth of the bytes that decoding a list of pods
// allocates.

// fieldsV1Setter returns a function that sets the text of managed fields without copying it. It
// returns nil for other types, and if FieldsV1 has other fields because of a build tag of
// apimachinery.
func fieldsV1Setter(t reflect.Type) func(at unsafe.Pointer, text string) {
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
		// The capacity equals the length, so that append makes a copy.
		*(*[]byte)(unsafe.Add(at, offset)) = unsafe.Slice(unsafe.StringData(text), len(text))
	}
}

// fieldsV1Text returns the text in a message of managed fields. ok is false if the message has
// other fields.
func fieldsV1Text(message string) (text string, ok bool) {
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

// insertManagedFields completes and inserts the entry of managed fields. Their text is a part of
// the argument key.
func (s *state) insertManagedFields(missing *entry, set func(unsafe.Pointer, string), to unsafe.Pointer, key, text string) {
	set(to, text)
	missing.inKey = true
	s.insert(missing, key, to, 0)
}
