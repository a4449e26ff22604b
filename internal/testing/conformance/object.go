package conformance

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Object is the object of the suites of stores and queues: a small type with metadata.
type Object struct {
	metav1.ObjectMeta

	// Values are the object's values in the index of the suite.
	Values []string

	// Err is the error of the suite's index function for the object.
	Err error
}

// Key returns the key of an object.
func (o *Object) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
}

// IndexName is the index that every store of the suite has.
const IndexName = "value"

// Index is the function of that index.
func Index(o *Object) ([]string, error) { return o.Values, o.Err }

// object makes an object from "name@version". All objects are in one namespace.
func object(s string, values ...string) *Object {
	name, version, _ := strings.Cut(s, "@")
	return &Object{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: version}, Values: values}
}

func objects(all ...string) (list []*Object) {
	for _, s := range all {
		list = append(list, object(s))
	}
	return list
}

func key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "ns", Name: name}
}

// names returns the names of keys, sorted.
func names(keys []types.NamespacedName) []string {
	all := []string{}
	for _, key := range keys {
		all = append(all, key.Name)
	}
	slices.Sort(all)
	return all
}
