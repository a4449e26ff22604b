package fielddocs_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest/fielddocs"
)

func TestOf(t *testing.T) {
	t.Parallel()
	require.Contains(t, fielddocs.Of(reflect.TypeFor[corev1.Pod]())[""], "Pod is a collection of containers")
	require.Nil(t, fielddocs.Of(reflect.TypeFor[int]()))
}

func ExampleOf() {
	docs := fielddocs.Of(reflect.TypeFor[corev1.PodSpec]())
	text, _, _ := strings.Cut(docs["nodeName"], ".")
	fmt.Println(text)
	// Output: NodeName indicates in which node this pod is scheduled
}
