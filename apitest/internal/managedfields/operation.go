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

// Operation is one write by one manager.
type Operation struct {
	// Manager is the name of the field manager.
	Manager string
	// APIVersion is the version in which the object is written, such as "apps/v1".
	APIVersion string
	// Subresource is the written subresource, or "" for the object itself.
	Subresource string
	// HasStatus is set if the resource has the subresource status. Other writes then do not change
	// the status.
	HasStatus bool
	// Force makes an apply take over fields of other managers.
	Force bool
}

// beforeFirstApply is the manager of fields that were set before the server tracked fields.
const beforeFirstApply = "before-first-apply"

// Update returns the managed fields of an object that is created or replaced. The argument live is
// the object before the write, and is empty for a new object. The argument owned has the managed
// fields before the write.
func (t Type) Update(live, object document, owned []metav1.ManagedFieldsEntry, op Operation) ([]metav1.ManagedFieldsEntry, error) {
	all, err := decodeEntries(owned)
	if err != nil {
		// Clients cannot write undecodable entries. If the object has them anyway, all of its
		// entries are dropped.
		all, _ = decodeEntries(nil)
	}
	before, err := t.read(withoutManagedFields(live))
	if err != nil {
		return nil, err
	}
	after, err := t.read(withoutManagedFields(object))
	if err != nil {
		return nil, err
	}
	key := op.updateID()
	if _, all.fields, err = newUpdater(op.ignoreFilters(all.fields)).Update(before, after, fieldpath.APIVersion(op.APIVersion), all.fields, key); err != nil {
		return nil, err
	}
	changes, err := before.Compare(after)
	if err != nil {
		return nil, err
	}
	if !changes.Modified.Union(changes.Added).Difference(unowned).Empty() {
		all.times[key] = nowInSeconds()
	}
	all.mergeOldest()
	return all.encode()
}

// Apply returns the object and its managed fields after a manager has applied the document wanted.
// It removes fields that the manager applied before and now leaves out, unless another manager owns
// them too. A change to another manager's field is a conflict (409), unless the operation is
// forced. The argument live is empty if the object does not exist. If a live object has no managed
// fields, "before-first-apply" owns its fields.
func (t Type) Apply(live, wanted document, owned []metav1.ManagedFieldsEntry, op Operation) (document, []metav1.ManagedFieldsEntry, error) {
	all, err := decodeEntries(owned)
	if err != nil {
		return nil, nil, err
	}
	live = withoutManagedFields(live)
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
		key := Operation{Manager: beforeFirstApply, APIVersion: op.APIVersion}.updateID()
		if _, all.fields, err = newUpdater(op.ignoreFilters(all.fields)).Update(nothing, before, fieldpath.APIVersion(op.APIVersion), all.fields, key); err != nil {
			return nil, nil, err
		}
		all.times[key] = nowInSeconds()
	}
	key := op.applyID()
	was := all.fields.Copy()
	merged, fields, err := newUpdater(op.ignoreFilters(all.fields)).Apply(before, config, fieldpath.APIVersion(op.APIVersion), all.fields, key, op.Force)
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
		all.times[key] = nowInSeconds()
	}
	list, err := all.encode()
	return live, list, err
}

// newUpdater returns an updater that ignores the filtered fields.
func newUpdater(ignored map[fieldpath.APIVersion]fieldpath.Filter) *merge.Updater {
	builder := merge.UpdaterBuilder{Converter: oneVersion{}, IgnoreFilter: ignored}
	return builder.BuildUpdater()
}

// updateID returns the id of the manager for an update, and applyID returns the id for an apply. A
// manager without a name is called "unknown".
func (op Operation) updateID() string { return op.id(metav1.ManagedFieldsOperationUpdate) }
func (op Operation) applyID() string  { return op.id(metav1.ManagedFieldsOperationApply) }

func (op Operation) id(by metav1.ManagedFieldsOperationType) string {
	return id(metav1.ManagedFieldsEntry{Manager: cmp.Or(op.Manager, "unknown"), Operation: by, APIVersion: op.APIVersion, Subresource: op.Subresource})
}

// ignoreFilters returns filters for the fields that a request may contain but does not write. The
// result has a filter for every version that a manager has used. Subresources of pods have no
// filter, as on the real server.
func (op Operation) ignoreFilters(by fieldpath.ManagedFields) map[fieldpath.APIVersion]fieldpath.Filter {
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

// oneVersion converts objects between versions without any change, because all versions of a
// resource have the same fields here. In a real cluster, this is true for every CRD without a
// webhook.
type oneVersion struct{}

func (oneVersion) Convert(object *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return object, nil
}

func (oneVersion) IsMissingVersionError(error) bool { return false }

// withoutManagedFields removes the managed fields from an object.
func withoutManagedFields(doc document) document {
	if doc == nil {
		return document{}
	}
	if meta, ok := doc["metadata"].(document); ok {
		delete(meta, "managedFields")
	}
	return doc
}

// objectName returns the name of an object for error messages, in the form of the real server:
// namespace/name; version, kind.
func objectName(doc document) string {
	object := unstructured.Unstructured{Object: doc}
	kind := schema.FromAPIVersionAndKind(object.GetAPIVersion(), object.GetKind())
	return fmt.Sprintf("%s/%s; %s", object.GetNamespace(), object.GetName(), kind)
}

// nowInSeconds returns the current time in the precision of managed fields.
func nowInSeconds() *metav1.Time { return &metav1.Time{Time: time.Now().UTC().Truncate(time.Second)} }
