package informer_test

import (
	"testing"

	"github.com/kinform/kinform/internal/testing/conformance"
	"github.com/kinform/kinform/internal/testing/conformance/kinform"
)

func TestConformance(t *testing.T) {
	conformance.TestInformer(t, kinform.NewInformer, nil)
}
