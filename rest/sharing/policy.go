package sharing

import (
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Policy says what objects may share with each other.
type Policy uint8

const (
	// Everything shares every equal part. It is for programs that are known to keep the contract.
	Everything Policy = iota

	// Immutable shares strings, the contents of managed fields (metadata.managedFields[].fieldsV1),
	// and the parts of a pod that no server lets anybody change once the pod exists. No program has
	// a purpose in changing these in place. The table immutable has the fields. The policy is for
	// caches of programs that may break the rule for cached objects. Decoder.Check finds programs
	// that change even these parts.
	Immutable

	// Constants shares strings, which no program can change. All lists, maps and pointers are an
	// object's own, so that the objects may be changed in place.
	Constants
)

// scope is where in an object a type is, which counts for the policy Immutable.
type scope uint8

const (
	anywhere scope = iota
	inPod          // the fields of immutable are fixed
	inFixed        // in a fixed field: all is fixed
)

// immutable are the fixed fields of pods, by the type that has them.
//
// Not among them, for all that servers refuse changes: scalars, and the arrays of containers and volumes, whose elements differ in
// each pod; requests and limits, because programs that sum them up have been seen to do it in the map of the first container; and
// tolerations, which may get other seconds.
var immutable = [...]struct {
	owner  string
	fields []string // nil for all
}{
	{"PodSpec", []string{"Affinity", "SecurityContext", "ImagePullSecrets", "HostAliases", "DNSConfig", "ReadinessGates", "TopologySpreadConstraints"}},
	{"Container", containerFields[:]},
	{"EphemeralContainerCommon", containerFields[:]},
	{"VolumeSource", nil},
	{"ContainerStatus", []string{"Resources", "AllocatedResources", "AllocatedResourcesStatus", "User"}},
}

var containerFields = [...]string{
	"Command", "Args", "Ports", "EnvFrom", "Env", "VolumeMounts", "VolumeDevices",
	"LivenessProbe", "ReadinessProbe", "StartupProbe", "Lifecycle", "SecurityContext",
}

const corev1 = "k8s.io/api/core/v1"

// scopeOf returns the scope of what is in a field of a struct, and whether the field is fixed.
func (p Policy) scopeOf(t reflect.Type, field string, outer scope) (inner scope, fixed bool) {
	switch {
	case p != Immutable:
		return anywhere, false
	case t == reflect.TypeFor[metav1.ManagedFieldsEntry]():
		return outer, field == "FieldsV1"
	case outer == inFixed:
		return inFixed, true
	case t.PkgPath() != corev1:
		return outer, false
	case outer == anywhere:
		if t.Name() == "Pod" && field != "ObjectMeta" {
			return inPod, false
		}
		return anywhere, false
	}
	for _, of := range immutable {
		if of.owner == t.Name() && (of.fields == nil || slices.Contains(of.fields, field)) {
			return inFixed, true
		}
	}
	return inPod, false
}
