//lint:file-ignore SA1019 what is deprecated is compared as well

package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"k8s.io/client-go/util/csaupgrade"
)

func entry(manager string, operation metav1.ManagedFieldsOperationType, sub, fields string) metav1.ManagedFieldsEntry {
	e := metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, APIVersion: "v1", FieldsType: "FieldsV1", Subresource: sub}
	if fields != "" {
		e.FieldsV1 = &metav1.FieldsV1{Raw: []byte(fields)}
	}
	return e
}

// copied returns copies of the entries, because client-go changes them in place.
func copied(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var all []metav1.ManagedFieldsEntry
	for _, e := range entries {
		all = append(all, *e.DeepCopy())
	}
	return all
}

func tryManagers() {
	const (
		update, apply = metav1.ManagedFieldsOperationUpdate, metav1.ManagedFieldsOperationApply
		data          = `{"f:data":{"f:a":{}}}`
		last          = `{"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}},"f:data":{"f:b":{}}}`
	)
	histories := map[string][]metav1.ManagedFieldsEntry{
		"nobody": nil, "client": {entry("csa", update, "", last)}, "client and server": {entry("ssa", apply, "", data), entry("csa", update, "", last)}, "server": {entry("ssa", apply, "", data)},
		"others": {entry("x", update, "", data), entry("y", apply, "", data)}, "two clients": {entry("csa", update, "", last), entry("csa2", update, "", data), entry("x", update, "", last)}, "status": {entry("csa", update, "status", `{"f:status":{}}`)},
		"status and more": {entry("csa", update, "", last), entry("csa", update, "status", `{"f:status":{}}`), entry("ssa", apply, "status", data)}, "broken": {entry("csa", update, "", `{`), entry("ssa", apply, "", data)},
		"broken server": {entry("csa", update, "", last), entry("ssa", apply, "", `{`)}, "no fields": {entry("csa", update, "", "")}, "no fields and server": {entry("csa", update, "", ""), entry("ssa", apply, "", data)}, "applied by the client's name": {entry("csa", apply, "", data)},
		"versions":           {{Manager: "csa", Operation: update, APIVersion: "v2", FieldsV1: &metav1.FieldsV1{Raw: []byte(last)}}, {Manager: "csa", Operation: update, APIVersion: "v1", FieldsV1: &metav1.FieldsV1{Raw: []byte(data)}}},
		"the server updates": {entry("ssa", update, "", data), entry("csa", update, "", last)}, "the same name": {entry("ssa", update, "", data)},
	}
	for name, history := range histories {
		for given, options := range map[string][]csaupgrade.Option{"": nil, "status": {csaupgrade.Subresource("status")}} {
			for _, names := range [][]string{{"csa"}, {"csa", "csa2"}, {}, {"ssa"}, {"x", "csa"}} {
				if name == "two clients" && len(names) > 1 {
					continue // which entry is replaced is random
				}
				try(fmt.Sprintf("managers: %s, subresource %q, of %s", name, given, names), func(o *outcome) {
					make := func() *v1.ConfigMap {
						return &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m", ResourceVersion: "5", ManagedFields: copied(history)}}
					}
					object := make()
					err := csaupgrade.UpgradeManagedFields(object, sets.New(names...), "ssa", options...)
					o.line(text(object.ManagedFields), err != nil)
					object = make()
					patch, err := csaupgrade.UpgradeManagedFieldsPatch(object, sets.New(names...), "ssa", options...)
					// the object is not compared, because client-go changes it
					o.line(normalize(string(patch)), patch == nil, err != nil)
				})
			}
		}
		try("managers: owners in "+name, func(o *outcome) {
			for _, operation := range []metav1.ManagedFieldsOperationType{update, apply, ""} {
				for _, set := range []*fieldpath.Set{fieldpath.NewSet(), fieldpath.NewSet(fieldpath.MakePathOrDie("data", "a")), fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"))} {
					o.line(operation, text(csaupgrade.FindFieldsOwners(copied(history), operation, set)))
				}
			}
		})
	}
	for name, object := range map[string]runtime.Object{"unstructured": &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"managedFields": []any{map[string]any{"manager": "csa", "operation": "Update", "apiVersion": "v1", "fieldsV1": map[string]any{"f:data": map[string]any{}}}}}}}, "list": &v1.PodList{}, "nil": nil} {
		try("managers: of an object that is "+name, func(o *outcome) {
			o.panics("upgrade", func() {
				o.line(kindOf(csaupgrade.UpgradeManagedFields(object, sets.New("csa"), "ssa")), text(object))
			})
			o.panics("patch", func() {
				patch, err := csaupgrade.UpgradeManagedFieldsPatch(object, sets.New("csa"), "ssa")
				o.line(string(patch), kindOf(err))
			})
		})
	}
}
