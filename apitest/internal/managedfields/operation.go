package managedfields

import (
	"errors"
	"fmt"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Operation is one write, by somebody.
type Operation struct {
	// Manager is who writes.
	Manager string
	// APIVersion is in which version the object is written, such as "apps/v1".
	APIVersion string
	// Subresource is what is written of the object, "" for the object itself.
	Subresource string
	// HasStatus says that the status is written as a subresource.
	HasStatus bool
	// Force takes over what others own, in an apply.
	Force bool
}

// beforeFirstApply is who has set what was there before anybody was asked.
const beforeFirstApply = "before-first-apply"

// Update returns the managed fields of an object that is replaced by another one, or created:
// live is empty then. What they were is in owned.
func (t Type) Update(live, object document, owned []metav1.ManagedFieldsEntry, op Operation) ([]metav1.ManagedFieldsEntry, error) {
	all, err := readEntries(owned)
	if err != nil {
		all, _ = readEntries(nil) // Nobody may write them so, and an object is not lost by that.
	}
	before, err := t.read(bare(live))
	if err != nil {
		return nil, err
	}
	after, err := t.read(bare(object))
	if err != nil {
		return nil, err
	}
	key := id(metav1.ManagedFieldsEntry{Manager: op.Manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: op.APIVersion, Subresource: op.Subresource})
	was := all.fields.Copy()
	_, fields, err := op.updater().Update(before, after, fieldpath.APIVersion(op.APIVersion), all.fields, key)
	if err != nil {
		return nil, err
	}
	all.fields = fields
	if set, ok := fields[key]; ok && (was[key] == nil || !was[key].Set().Equals(set.Set())) {
		all.times[key] = seconds()
	}
	return all.write()
}

// Apply returns an object, and its managed fields, with what a manager wants it to have.
// Fields that the manager wanted before and does not any more are removed, unless somebody
// else owns them as well. Where others own what it wants to be otherwise, the error is a
// conflict (409), unless the operation is forced. live is empty if there is no object yet;
// one that has no managed fields is taken for what others have set.
func (t Type) Apply(live, wanted document, owned []metav1.ManagedFieldsEntry, op Operation) (document, []metav1.ManagedFieldsEntry, error) {
	all, err := readEntries(owned)
	if err != nil {
		return nil, nil, err
	}
	before, err := t.read(bare(live))
	if err != nil {
		return nil, nil, fmt.Errorf("failed to create typed live object: %w", err)
	}
	config, err := t.readStrictly(bare(wanted))
	if err != nil {
		return nil, nil, fmt.Errorf("failed to create typed patch object (%s): %w", objectName(wanted), err)
	}
	if len(all.fields) == 0 && len(live) > 0 {
		nothing, err := t.read(document{})
		if err != nil {
			return nil, nil, err
		}
		key := id(metav1.ManagedFieldsEntry{Manager: beforeFirstApply, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: op.APIVersion})
		if _, all.fields, err = op.updater().Update(nothing, before, fieldpath.APIVersion(op.APIVersion), all.fields, key); err != nil {
			return nil, nil, err
		}
		all.times[key] = seconds()
	}
	key := id(metav1.ManagedFieldsEntry{Manager: op.Manager, Operation: metav1.ManagedFieldsOperationApply, Subresource: op.Subresource})
	was := all.fields.Copy()
	merged, fields, err := op.updater().Apply(before, config, fieldpath.APIVersion(op.APIVersion), all.fields, key, op.Force)
	if conflicts, ok := errors.AsType[merge.Conflicts](err); ok {
		return nil, nil, conflictError(conflicts)
	}
	if err != nil {
		return nil, nil, err
	}
	all.fields = fields
	result := maps.Clone(bare(live))
	if merged != nil {
		result, _ = merged.AsValue().Unstructured().(document)
	}
	if merged != nil || !was.Equals(fields) {
		all.times[key] = seconds()
	}
	list, err := all.write()
	return result, list, err
}

// updater merges what an operation may write.
func (op Operation) updater() *merge.Updater {
	builder := merge.UpdaterBuilder{Converter: oneVersion(op.APIVersion), ReturnInputOnNoop: false}
	if op.HasStatus {
		ignored := fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
		if op.Subresource == "status" {
			ignored = fieldpath.NewSet(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata"))
		}
		builder.IgnoreFilter = map[fieldpath.APIVersion]fieldpath.Filter{fieldpath.APIVersion(op.APIVersion): fieldpath.NewExcludeSetFilter(ignored)}
	}
	return builder.BuildUpdater()
}

// oneVersion is a converter: the versions of a resource have the same fields, as those of a
// definition without a webhook have.
type oneVersion string

func (oneVersion) Convert(object *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return object, nil
}

func (oneVersion) IsMissingVersionError(error) bool { return false }

// bare is an object without its managed fields.
func bare(doc document) document {
	if doc == nil {
		return document{}
	}
	meta, _ := doc["metadata"].(document)
	if _, has := meta["managedFields"]; !has {
		return doc
	}
	doc = maps.Clone(doc)
	meta = maps.Clone(meta)
	delete(meta, "managedFields")
	doc["metadata"] = meta
	return runtime.DeepCopyJSON(doc)
}

// objectName names an object in errors as the server does: namespace/name; version, kind.
func objectName(doc document) string {
	meta, _ := doc["metadata"].(document)
	kind := schema.FromAPIVersionAndKind(text(doc["apiVersion"]), text(doc["kind"]))
	return fmt.Sprintf("%s/%s; %s", text(meta["namespace"]), text(meta["name"]), kind)
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// seconds is the time, as managed fields have it.
func seconds() *metav1.Time { return &metav1.Time{Time: time.Now().UTC().Truncate(time.Second)} }
