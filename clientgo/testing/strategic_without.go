//go:build kinform_no_openapi

package testing

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
)

// strategicMerge returns an error. With apimachinery's strategic merge patches, the linker would
// keep the OpenAPI packages.
func strategicMerge([]byte, []byte, runtime.Object) ([]byte, error) {
	return nil, errors.New("there are no strategic merge patches here: the program is built with -tags=kinform_no_openapi")
}
