package listwatch_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// script is a list that returns these results from Next; a string is an object.
type script struct {
	next   []any
	closed int
}

func (s *script) Next() (item listwatch.Item[string], err error) {
	if len(s.next) == 0 {
		return item, io.EOF
	}
	next := s.next[0]
	s.next = s.next[1:]
	if err, failed := next.(error); failed {
		return item, err
	}
	item.Object = next.(string)
	return item, nil
}

func (s *script) Meta() listwatch.ListMeta { return listwatch.ListMeta{} }

func (s *script) Close() error { s.closed++; return nil }

func TestCollect(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection lost")
	undecodable := &listwatch.ObjectError{Key: types.NamespacedName{Name: "x"}, Err: errors.New("no JSON")}
	for name, c := range map[string]struct {
		next []any
		want []string
		errs []error
	}{
		"empty":       {nil, nil, nil},
		"whole":       {[]any{"a", "b"}, []string{"a", "b"}, nil},
		"undecodable": {[]any{"a", undecodable, "b", undecodable}, []string{"a", "b"}, []error{undecodable}},
		"broken":      {[]any{"a", broken, "b"}, []string{"a"}, []error{broken}},
		"both":        {[]any{undecodable, "a", broken}, []string{"a"}, []error{undecodable, broken}},
	} {
		list := &script{next: c.next}
		items, err := listwatch.Collect[string](list, nil)
		var got []string
		for _, item := range items {
			got = append(got, item.Object)
		}
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.errs == nil, err == nil, name)
		for _, want := range c.errs {
			require.ErrorIs(t, err, want, name)
		}
		require.Equal(t, 1, list.closed, name)
	}
	items, err := listwatch.Collect[string](nil, broken)
	require.Nil(t, items)
	require.Equal(t, broken, err)
}
