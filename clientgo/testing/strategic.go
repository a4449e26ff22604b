//go:build !kinform_no_openapi

package testing

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// strategicMerge applies a strategic merge patch to an object in JSON.
func strategicMerge(before, patch []byte, object runtime.Object) ([]byte, error) {
	return strategicpatch.StrategicMergePatch(before, patch, object)
}
