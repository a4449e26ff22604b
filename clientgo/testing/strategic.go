//go:build !kinform_no_openapi

package testing

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// strategicMerge returns an object in JSON with a strategic merge patch.
func strategicMerge(before, patch []byte, object runtime.Object) ([]byte, error) {
	return strategicpatch.StrategicMergePatch(before, patch, object)
}
