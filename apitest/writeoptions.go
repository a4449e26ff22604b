package apitest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest/internal/wire"
)

// validateOptions refuses unknown values of the options of a write, with the real server's texts.
// Otherwise a request with a misspelled dryRun would write.
func (r *Request) validateOptions() error {
	dryRun, manager, validation := r.query["dryRun"], r.query.Get("fieldManager"), r.query.Get("fieldValidation")
	switch r.Verb {
	case "create":
		opts := metav1.CreateOptions{DryRun: dryRun, FieldManager: manager, FieldValidation: validation}
		return wire.NewInvalidOptions("CreateOptions", metav1validation.ValidateCreateOptions(&opts))
	case "update":
		opts := metav1.UpdateOptions{DryRun: dryRun, FieldManager: manager, FieldValidation: validation}
		return wire.NewInvalidOptions("UpdateOptions", metav1validation.ValidateUpdateOptions(&opts))
	case "patch":
		opts := metav1.PatchOptions{DryRun: dryRun, FieldManager: manager, FieldValidation: validation}
		if r.query.Has("force") {
			opts.Force = new(boolParam(r.query, "force"))
		}
		return wire.NewInvalidOptions("PatchOptions", metav1validation.ValidatePatchOptions(&opts, types.PatchType(r.mediaType())))
	}
	return nil
}
