package rest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest/internal/everytype"
)

// For requests protobuf if the type belongs to k8s.io/api. It decodes all present types by their
// tags; package sharing compares the results with the types' methods.
func TestForDecodesEveryTypeByItsTags(t *testing.T) {
	t.Parallel()
	c := &Client{}
	types := everytype.All()
	require.Greater(t, len(types), 300)
	for _, typ := range types {
		require.True(t, c.decodesTags(typ), typ)
	}
}
