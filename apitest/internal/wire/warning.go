package wire

import (
	"bytes"
	"fmt"
	"net/http"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kinform/kinform/apitest/internal/crd"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// WriteStored responds with an object that a client has written. It adds a Warning header for each
// warning of ignoredParts. Clients log these headers.
func (f Format) WriteStored(w http.ResponseWriter, code int, rev *storage.Revision) {
	for _, warning := range ignoredParts(rev) {
		w.Header().Add("Warning", fmt.Sprintf("299 - %q", warning))
	}
	f.WriteObject(w, code, rev)
}

// ignoredParts returns warnings about a stored object that this server ignores, wholly or partly.
func ignoredParts(r *storage.Revision) (all []string) {
	if r.Res.GVK.Group == admissionregistrationv1.GroupName {
		return []string{r.Res.GVK.Kind + " is stored and has no effect: kinform's API server has no admission"}
	}
	if r.Res.GVK != crd.Kind {
		return nil
	}
	if strategy, _, _ := unstructured.NestedString(r.Object().(*unstructured.Unstructured).Object, "spec", "conversion", "strategy"); strategy == "Webhook" {
		all = append(all, "spec.conversion.webhook is not called: kinform's API server only changes the apiVersion between versions")
	}
	if bytes.Contains(r.Stored, []byte(`"x-kubernetes-validations":`)) {
		all = append(all, "x-kubernetes-validations are not evaluated: kinform's API server has no CEL")
	}
	return all
}
