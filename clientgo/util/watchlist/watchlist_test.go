package watchlist_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/client-go/util/watchlist"
)

func TestAnUnparsableSelectorIsAnError(t *testing.T) { // each error is client-go's
	for want, options := range map[string]metav1.ListOptions{
		"unable to parse requirement: found '', expected: ',', ')' or identifier":        {LabelSelector: "a in ("},
		"invalid selector: 'a=b,c'; can't understand 'c'":                                {FieldSelector: "a=b,c"},
		"unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt": {LabelSelector: "a b", FieldSelector: "c"},
	} {
		prepared, ok, err := watchlist.PrepareWatchListOptionsFromListOptions(options)
		require.EqualError(t, err, want)
		require.False(t, ok)
		require.Zero(t, prepared)
	}
	prepared, ok, err := watchlist.PrepareWatchListOptionsFromListOptions(metav1.ListOptions{LabelSelector: "a in (b)", FieldSelector: "c=d"})
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "a in (b)", prepared.LabelSelector)
	require.Equal(t, "c=d", prepared.FieldSelector)
}
