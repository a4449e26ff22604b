package managedfields

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	key := op.updater()
	if _, all.fields, err = merging(op.ignored(all.fields)).Update(before, after, fieldpath.APIVersion(op.APIVersion), all.fields, key); err != nil {
		return nil, err
	}
	changes, err := before.Compare(after)
	if err != nil {
		return nil, err
	}
	if !changes.Modified.Union(changes.Added).Difference(unowned).Empty() {
		all.times[key] = seconds()
	}
	all.mergeOldest()
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
	live = bare(live)
	before, err := t.read(live)
	if err != nil {
		return nil, nil, fmt.Errorf("failed to create typed live object: %w", err)
	}
	config, err := t.readStrictly(wanted)
	if err != nil {
		return nil, nil, fmt.Errorf("failed to create typed patch object (%s): %w", objectName(wanted), err)
	}
	if len(all.fields) == 0 && len(live) > 0 {
		nothing, err := t.read(document{})
		if err != nil {
			return nil, nil, err
		}
		key := Operation{Manager: beforeFirstApply, APIVersion: op.APIVersion}.updater()
		if _, all.fields, err = merging(op.ignored(all.fields)).Update(nothing, before, fieldpath.APIVersion(op.APIVersion), all.fields, key); err != nil {
			return nil, nil, err
		}
		all.times[key] = seconds()
	}
	key := op.applier()
	was := all.fields.Copy()
	merged, fields, err := merging(op.ignored(all.fields)).Apply(before, config, fieldpath.APIVersion(op.APIVersion), all.fields, key, op.Force)
	if conflicts, ok := errors.AsType[merge.Conflicts](err); ok {
		return nil, nil, conflictError(conflicts, op)
	}
	if err != nil {
		return nil, nil, err
	}
	all.fields = fields
	if merged != nil {
		live, _ = merged.AsValue().Unstructured().(document)
	}
	if merged != nil || !was.Equals(fields) {
		all.times[key] = seconds()
	}
	list, err := all.write()
	return live, list, err
}

// merging returns what merges objects, and does not look at the fields that the filters leave out.
func merging(ignored map[fieldpath.APIVersion]fieldpath.Filter) *merge.Updater {
	builder := merge.UpdaterBuilder{Converter: oneVersion{}, IgnoreFilter: ignored}
	return builder.BuildUpdater()
}

// updater names who updates, applier who applies. Who has no name is unknown.
func (op Operation) updater() string { return op.id(metav1.ManagedFieldsOperationUpdate) }
func (op Operation) applier() string { return op.id(metav1.ManagedFieldsOperationApply) }

func (op Operation) id(by metav1.ManagedFieldsOperationType) string {
	return id(metav1.ManagedFieldsEntry{Manager: cmp.Or(op.Manager, "unknown"), Operation: by, APIVersion: op.APIVersion, Subresource: op.Subresource})
}

// ignored filters the fields that an object may have when it is sent, and that are not written, whatever
// the version is in which managers wrote them. As on the real server, subresources of pods have none.
func (op Operation) ignored(by fieldpath.ManagedFields) map[fieldpath.APIVersion]fieldpath.Filter {
	var filter fieldpath.Filter
	switch {
	case op.Subresource == "status":
		filter = fieldpath.NewIncludeMatcherFilter(fieldpath.MakePrefixMatcherOrDie("status"))
	case op.Subresource == "" && op.HasStatus:
		filter = fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("status")))
	default:
		return nil
	}
	filters := map[fieldpath.APIVersion]fieldpath.Filter{fieldpath.APIVersion(op.APIVersion): filter}
	for _, set := range by {
		filters[set.APIVersion()] = filter
	}
	return filters
}

// oneVersion is a converter: the versions of a resource have the same fields, as those of a
// definition without a webhook have.
type oneVersion struct{}

func (oneVersion) Convert(object *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return object, nil
}

func (oneVersion) IsMissingVersionError(error) bool { return false }

// bare takes the managed fields away from an object.
func bare(doc document) document {
	if doc == nil {
		return document{}
	}
	if meta, ok := doc["metadata"].(document); ok {
		delete(meta, "managedFields")
	}
	return doc
}

// objectName names an object in errors as the server does: namespace/name; version, kind.
func objectName(doc document) string {
	object := unstructured.Unstructured{Object: doc}
	kind := schema.FromAPIVersionAndKind(object.GetAPIVersion(), object.GetKind())
	return fmt.Sprintf("%s/%s; %s", object.GetNamespace(), object.GetName(), kind)
}

// seconds is the time, as managed fields have it.
func seconds() *metav1.Time { return &metav1.Time{Time: time.Now().UTC().Truncate(time.Second)} }
