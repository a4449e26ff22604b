package util_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record/util"
)

func TestUtil(t *testing.T) {
	require.True(t, util.ValidateEventType("Normal") && util.ValidateEventType("Warning"))
	require.False(t, util.ValidateEventType("normal"))
	require.True(t, util.IsKeyNotFoundError(apierrors.NewNotFound(schema.GroupResource{}, "a")))
	require.False(t, util.IsKeyNotFoundError(fmt.Errorf("404")))
	require.Equal(t, "abc.ff", util.GenerateEventName("abc", 255))
	require.Len(t, util.GenerateEventName("A:B", 255), 36, "a name that is not valid for an event is replaced by a random name")
}
