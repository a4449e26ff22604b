package informer

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// firstUsersOnly names options by strings, so the compiler does not notice when an option is
// renamed.
func TestOptionsOfTheFirstUserOnlyExist(t *testing.T) {
	t.Parallel()
	var names []string
	var walk func(reflect.Type)
	walk = func(s reflect.Type) {
		for i := range s.NumField() {
			field := s.Field(i)
			names = append(names, field.Name)
			if field.Type.Kind() == reflect.Struct {
				walk(field.Type)
			}
		}
	}
	walk(reflect.TypeFor[Options[*corev1.Pod]]())
	for _, name := range firstUsersOnly {
		require.True(t, slices.Contains(names, name), "no option is called %s", name)
	}
}
