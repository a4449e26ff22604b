package rest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest/internal/everytype"
)

// For asks for protobuf wherever the type is one of k8s.io/api: it decodes all of today's by
// their tags, which package sharing compares with their methods.
func TestForDecodesEveryTypeByItsTags(t *testing.T) {
	t.Parallel()
	c := &Client{}
	types := everytype.All()
	require.Greater(t, len(types), 300)
	for _, typ := range types {
		require.True(t, c.decodesTags(typ), typ)
	}
}
