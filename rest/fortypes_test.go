package rest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest/internal/everytype"
)

// The function For requests protobuf for the types of k8s.io/api, and can decode all present types
// by their tags. Package sharing compares the results with the types' own methods.
func TestForSupportsEveryBuiltinType(t *testing.T) {
	t.Parallel()
	c := &Client{}
	types := everytype.All()
	require.Greater(t, len(types), 300)
	for _, typ := range types {
		require.True(t, c.tables.DecodesTags(typ), typ)
	}
}
