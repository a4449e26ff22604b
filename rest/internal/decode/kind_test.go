package decode

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddTypeMeta(t *testing.T) {
	t.Parallel()
	k := NewKindChecker(Kinds{APIVersion: "g/v1", Kind: "K"})
	for body, want := range map[string]string{
		`{"metadata":{}}`:                        `{"apiVersion":"g/v1","kind":"K","metadata":{}}`,
		`{}`:                                     `{"apiVersion":"g/v1","kind":"K"}`,
		`{"kind":"K","metadata":{}}`:             `{"apiVersion":"g/v1","kind":"K","metadata":{}}`,
		`{"apiVersion":"h/v2","a":1}`:            `{"kind":"K","apiVersion":"h/v2","a":1}`,
		`{"a":1,"kind":"L","apiVersion":"h/v2"}`: `{"a":1,"kind":"L","apiVersion":"h/v2"}`,
	} {
		require.JSONEq(t, want, string(k.AddTypeMeta([]byte(body))), body)
	}
	require.Equal(t, `{"a":1}`, string(NewKindChecker(Kinds{APIVersion: "g/v1"}).AddTypeMeta([]byte(`{"a":1}`))), "nothing must be added if the kind is unknown")
	require.Equal(t, `{"a":1}`, string(NewKindChecker(Kinds{APIVersion: "v1", Kind: "Pod", Builtin: true}).AddTypeMeta([]byte(`{"a":1}`))), "nothing must be added to a built-in type")
	require.Equal(t, `{"a":1}`, string(NewKindChecker(Kinds{APIVersion: "v1", Kind: "K", Partial: true}).AddTypeMeta([]byte(`{"a":1}`))))
}
