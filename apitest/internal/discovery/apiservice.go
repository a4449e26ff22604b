package discovery

import (
	"cmp"
	"fmt"
	"hash/fnv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// APIServiceKind is the kind of an APIService.
var APIServiceKind = schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}

// priorities are the positions of groups in discovery, as kube-apiserver sets them. kubectl uses
// the positions when a name fits more than one resource. Groups of custom resources have
// customPriority.
var priorities = map[string]int64{
	"":                             18000,
	"apiregistration.k8s.io":       17900, // group of the aggregator itself, which comes first
	"apps":                         17800,
	"events.k8s.io":                17750,
	"authentication.k8s.io":        17700,
	"authorization.k8s.io":         17600,
	"autoscaling":                  17500,
	"batch":                        17400,
	"certificates.k8s.io":          17300,
	"networking.k8s.io":            17200,
	"policy":                       17100,
	"rbac.authorization.k8s.io":    17000,
	"storage.k8s.io":               16800,
	"admissionregistration.k8s.io": 16700,
	"apiextensions.k8s.io":         16700,
	"scheduling.k8s.io":            16600,
	"coordination.k8s.io":          16500,
	"node.k8s.io":                  16300,
	"discovery.k8s.io":             16200,
	"resource.k8s.io":              16200,
	"flowcontrol.apiserver.k8s.io": 16100,
	"storagemigration.k8s.io":      15800,
}

const customPriority = 1000

func priorityOf(group string) int64 {
	if p, ok := priorities[group]; ok {
		return p
	}
	return customPriority
}

// compareGroups compares two groups by their order in discovery.
func compareGroups(a, b string) int {
	return cmp.Or(cmp.Compare(priorityOf(b), priorityOf(a)), cmp.Compare(a, b))
}

// APIService returns the APIService of a group version that this server serves itself.
func APIService(gv schema.GroupVersion) *unstructured.Unstructured {
	managed, version := "onstart", int64(15)
	if _, builtin := priorities[gv.Group]; !builtin {
		managed, version = "true", 100
	}
	spec := map[string]any{"version": gv.Version, "groupPriorityMinimum": priorityOf(gv.Group), "versionPriority": version}
	if gv.Group != "" {
		spec["group"] = gv.Group
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"spec": spec,
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "Available", "status": "True", "reason": "Local", "message": "Local APIServices are always available",
			"lastTransitionTime": apiobject.Now().UTC().Format("2006-01-02T15:04:05Z"),
		}}},
	}}
	u.SetGroupVersionKind(APIServiceKind)
	u.SetName(gv.Version + "." + gv.Group)
	u.SetLabels(map[string]string{"kube-aggregator.kubernetes.io/automanaged": managed})
	// The UID does not come from s.ids: extra calls would change the seeded UIDs that tests expect.
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(u.GetName()))
	sum := hash.Sum64()
	u.SetUID(types.UID(fmt.Sprintf("%08x-%04x-4000-8000-%012x", sum>>32, sum>>16&0xffff, sum&0xffff)))
	u.SetCreationTimestamp(apiobject.Now())
	return u
}
