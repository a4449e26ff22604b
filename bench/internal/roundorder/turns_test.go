package roundorder_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/bench/internal/roundorder"
)

func ordersOf(compared ...string) (all []string) {
	for round := range 2 * len(compared) {
		all = append(all, strings.Join(roundorder.Of(round, compared, "x"), ""))
	}
	return all
}

func TestNoSideAlwaysComesFirst(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"abx", "xba", "xab", "bax"}, ordersOf("a", "b"))
	require.Equal(t, []string{"abcx", "xbca", "cabx", "xabc", "bcax", "xcab"}, ordersOf("a", "b", "c"))
	require.Equal(t, ordersOf("a", "b")[1], strings.Join(roundorder.Of(5, []string{"a", "b"}, "x"), ""), "round 5 of two sides must have the order of round 1")
}

func TestOrdersDoNotShareMemory(t *testing.T) {
	t.Parallel()
	compared := append(make([]string, 0, 8), "a", "b")
	first := roundorder.Of(0, compared, "x")
	roundorder.Of(3, compared, "y")
	require.Equal(t, []string{"a", "b", "x"}, first)
	require.Equal(t, []string{"a", "b"}, compared)
}
