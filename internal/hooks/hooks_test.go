package hooks

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

type observer struct{ one, other func() }

func TestCopyIsTheCallersOwn(t *testing.T) {
	t.Parallel()
	users := &observer{one: func() {}}
	own := Copied(users)
	require.NotNil(t, own.one)
	own.one, own.other = nil, func() {}
	require.NotNil(t, users.one)
	require.Nil(t, users.other)
	require.Equal(t, &observer{}, Copied[observer](nil))
}

func TestHooksAreCalledInTurn(t *testing.T) {
	t.Parallel()
	var told []string
	tell := func(who string) func(int) {
		return func(n int) { told = append(told, fmt.Sprint(who, n)) }
	}
	tell2 := func(who string) func(int, string) {
		return func(n int, more string) { told = append(told, fmt.Sprint(who, n, more)) }
	}
	Then(tell("a"), tell("b"))(1)
	Then(nil, tell("c"))(2)
	Then(tell("d"), nil)(3)
	Then2(tell2("e"), tell2("f"))(4, "!")
	Then2(nil, tell2("g"))(5, "!")
	Then2(tell2("h"), nil)(6, "!")
	require.Equal(t, []string{"a1", "b1", "c2", "d3", "e4!", "f4!", "g5!", "h6!"}, told)
	require.Nil(t, Then[int](nil, nil))
	require.Nil(t, Then2[int, int](nil, nil))
}
