package hooks

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

type observer struct{ one, other func() }

func TestCopyOfDoesNotShareTheOriginal(t *testing.T) {
	t.Parallel()
	users := &observer{one: func() {}}
	own := CopyOf(users)
	require.NotNil(t, own.one)
	own.one, own.other = nil, func() {}
	require.NotNil(t, users.one)
	require.Nil(t, users.other)
	require.Equal(t, &observer{}, CopyOf[observer](nil))
}

func TestChainCallsHooksInOrder(t *testing.T) {
	t.Parallel()
	var calls []string
	record := func(who string) func(int) {
		return func(n int) { calls = append(calls, fmt.Sprint(who, n)) }
	}
	tell2 := func(who string) func(int, string) {
		return func(n int, more string) { calls = append(calls, fmt.Sprint(who, n, more)) }
	}
	Chain(record("a"), record("b"))(1)
	Chain(nil, record("c"))(2)
	Chain(record("d"), nil)(3)
	Chain2(tell2("e"), tell2("f"))(4, "!")
	Chain2(nil, tell2("g"))(5, "!")
	Chain2(tell2("h"), nil)(6, "!")
	require.Equal(t, []string{"a1", "b1", "c2", "d3", "e4!", "f4!", "g5!", "h6!"}, calls)
	require.Nil(t, Chain[int](nil, nil))
	require.Nil(t, Chain2[int, int](nil, nil))
}
