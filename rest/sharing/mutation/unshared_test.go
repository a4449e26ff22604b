package mutation_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/rest/sharing/mutation"
)

func TestCheckUnshared(t *testing.T) {
	t.Parallel()
	text := "a text"
	array := [4]byte{'a', 'b', 'c', 'd'}
	type hidden struct{ values map[string]int }
	values := map[string]int{"a": 1}
	huge := resource.MustParse("123456789012345678901234567890")
	fields := metav1.NewFieldsV1("{}")
	for name, of := range map[string]struct {
		a, b any
		want string // text of the error, or empty for no error
	}{
		"nothing":                      {nil, nil, ""},
		"strings":                      {&text, &[]string{text}, ""},
		"equal values":                 {map[string]any{"a": []any{1}}, map[string]any{"a": []any{1}}, ""},
		"empty":                        {[]*struct{}{{}}, []*struct{}{{}}, ""},
		"times":                        {&metav1.ObjectMeta{CreationTimestamp: metav1.Now()}, &metav1.ObjectMeta{CreationTimestamp: metav1.Now()}, ""},
		"one object":                   {[]any{values, values}, nil, ""},
		"a map":                        {map[string]any{"x": values}, []any{values}, "object 0[x] and object 1[0] share memory"},
		"a map in an unexported field": {hidden{values}, values, "object 0.values and object 1 share memory"},
		"parts of an array":            {array[:2:3], array[2:], "object 0 and object 1 share memory"},
		"another part of an array":     {array[:2:2], array[2:], ""},
		"room behind a slice":          {array[:0:3], array[2:], "object 0 and object 1 share memory"},
		"an element":                   {array[:], &array[3], "object 0 and object 1 share memory"},
		"bytes of a string":            {unsafe.Slice(unsafe.StringData(text), 2), map[string]bool{text: true}, "share memory"},
		"a large quantity":             {huge, huge, "share memory"},
		"managed fields": {
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{FieldsV1: fields}}}},
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{}, {FieldsV1: fields}}}},
			// The error names the FieldsV1 or its bytes, whichever has the lower address.
			"object 1.ObjectMeta.ManagedFields[1].FieldsV1",
		},
	} {
		for _, objects := range [][]any{{of.a, of.b}, {"another", of.a, 7, of.b, []any{}}} {
			err := mutation.CheckUnshared(objects...)
			if of.want == "" {
				require.NoError(t, err, name)
				continue
			}
			require.Error(t, err, name)
			if len(objects) == 2 {
				require.ErrorContains(t, err, of.want, name)
			}
		}
	}
}
