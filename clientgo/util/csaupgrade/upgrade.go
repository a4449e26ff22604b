// Package csaupgrade moves the ownership of fields from managers of client-side apply, such as
// kubectl apply, to a manager of server-side apply. The new manager may then remove the fields.
package csaupgrade

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Option changes what is upgraded.
type Option func(*options)

type options struct{ subresource string }

// Subresource selects the fields that were set through this subresource. Defaults to "", which
// selects the fields that were set on the object itself.
func Subresource(s string) Option {
	return func(o *options) { o.subresource = s }
}

// UpgradeManagedFields moves the fields that csaManagerNames own by Update to the Apply entry of
// ssaManagerName. If ssaManagerName has no Apply entry, the first entry of csaManagerNames becomes
// its Apply entry. Fields in an entry with another API version lose their owner, because their
// paths may differ between versions. Fields that csaManagerNames own by Apply do not change owners.
//
// On success the object is changed in place. The change cannot be undone. Write the object with its
// current resource version, so that the write fails if its managed fields have changed on the
// server.
func UpgradeManagedFields(obj runtime.Object, csaManagerNames sets.Set[string], ssaManagerName string, opts ...Option) error {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	entries, err := upgraded(accessor.GetManagedFields(), csaManagerNames, ssaManagerName, opts)
	if err != nil || entries == nil {
		return err
	}
	accessor.SetManagedFields(entries)
	return nil
}

// UpgradeManagedFieldsPatch returns a JSON patch for the same change on the server. The patch
// conflicts if the object has changed since it was read. It is nil if there is nothing to do. The
// object is not modified.
func UpgradeManagedFieldsPatch(obj runtime.Object, csaManagerNames sets.Set[string], ssaManagerName string, opts ...Option) ([]byte, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	entries, err := upgraded(accessor.GetManagedFields(), csaManagerNames, ssaManagerName, opts)
	if err != nil || entries == nil {
		return nil, err
	}
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	return json.Marshal([]operation{
		{"replace", "/metadata/managedFields", entries},
		// the server must reject the patch if the object has changed
		{"replace", "/metadata/resourceVersion", accessor.GetResourceVersion()},
	})
}

// upgraded returns the upgraded entries, or nil if there is nothing to upgrade. It does not modify
// its arguments.
func upgraded(entries []metav1.ManagedFieldsEntry, from sets.Set[string], to string, opts []Option) ([]metav1.ManagedFieldsEntry, error) {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	updates := func(e metav1.ManagedFieldsEntry) bool {
		return e.Operation == metav1.ManagedFieldsOperationUpdate && e.Subresource == o.subresource && from.Has(e.Manager)
	}
	heir := slices.IndexFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == o.subresource && e.Manager == to
	})
	first := slices.IndexFunc(entries, updates)
	if first < 0 {
		return nil, nil
	}
	if heir < 0 {
		heir = first
	}
	owned := &fieldpath.Set{}
	var next []metav1.ManagedFieldsEntry
	place := 0 // index in next of the entry that gets the fields
	for i, e := range entries {
		given := updates(e)
		if i == heir || given && e.APIVersion == entries[heir].APIVersion {
			fields, err := fieldsOf(e)
			if err != nil {
				return nil, err
			}
			owned = owned.Union(fields)
		}
		if i == heir {
			place = len(next)
		}
		if i == heir || !given {
			next = append(next, e)
		}
	}
	raw, err := owned.ToJSON()
	if err != nil {
		return nil, fmt.Errorf("writing the fields of manager %q: %w", to, err)
	}
	next[place].Manager, next[place].Operation = to, metav1.ManagedFieldsOperationApply
	next[place].FieldsV1 = metav1.NewFieldsV1(string(raw))
	return next, nil
}

// fieldsOf returns the fields of an entry.
func fieldsOf(e metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	var raw []byte
	if e.FieldsV1 != nil {
		raw = e.FieldsV1.GetRawBytes()
	}
	fields := &fieldpath.Set{}
	if err := fields.FromJSON(bytes.NewReader(raw)); err != nil {
		return nil, fmt.Errorf("reading the fields of manager %q (%s): %w", e.Manager, e.Operation, err)
	}
	return fields, nil
}

// FindFieldsOwners returns the entries with this operation that own all of the fields, of the
// object or of any subresource. A malformed entry owns no fields.
func FindFieldsOwners(managedFields []metav1.ManagedFieldsEntry, operation metav1.ManagedFieldsOperationType, fields *fieldpath.Set) []metav1.ManagedFieldsEntry {
	var owners []metav1.ManagedFieldsEntry
	for _, e := range managedFields {
		if e.Operation != operation {
			continue
		}
		if owned, err := fieldsOf(e); err == nil && fields.Difference(owned).Empty() {
			owners = append(owners, e)
		}
	}
	return owners
}
