package managedfields

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// entries are the managed fields of an object: which manager has set which fields, and when it last
// did so.
type entries struct {
	fields fieldpath.ManagedFields // fields by the id of the manager
	times  map[string]*metav1.Time
}

// id is the key of a manager in fields: its entry without fields and time. An applier has one entry
// for all versions.
func id(e metav1.ManagedFieldsEntry) string {
	e.FieldsV1, e.FieldsType, e.Time = nil, "", nil
	if e.Operation == metav1.ManagedFieldsOperationApply {
		e.APIVersion = ""
	}
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // cannot fail: the entry has only strings now
	}
	return string(text)
}

// entryOf returns the entry from which the id was made.
func entryOf(id string) (e metav1.ManagedFieldsEntry) {
	_ = json.Unmarshal([]byte(id), &e) // cannot fail: the function id has encoded it
	return e
}

// decodeEntries decodes the managed fields of an object.
func decodeEntries(of []metav1.ManagedFieldsEntry) (entries, error) {
	all := entries{fieldpath.ManagedFields{}, map[string]*metav1.Time{}}
	for _, e := range of {
		if e.FieldsV1 == nil {
			e.FieldsV1 = metav1.NewFieldsV1("{}")
		}
		set := &fieldpath.Set{}
		if err := set.FromJSON(e.FieldsV1.GetRawReader()); err != nil {
			return entries{}, fmt.Errorf("metadata.managedFields of %q: %w", e.Manager, err)
		}
		key := id(e)
		all.fields[key] = fieldpath.NewVersionedSet(set, fieldpath.APIVersion(e.APIVersion), e.Operation == metav1.ManagedFieldsOperationApply)
		all.times[key] = e.Time
	}
	return all, nil
}

// Decodable reports whether managed fields can be decoded.
func Decodable(of []metav1.ManagedFieldsEntry) bool {
	_, err := decodeEntries(of)
	return err == nil
}

// maxUpdaters is the maximum number of update entries. Older update entries are merged into an
// entry of the manager "ancient-changes", one for each version.
const maxUpdaters = 10

// mergeOldest merges the oldest update entries until at most maxUpdaters remain.
func (all entries) mergeOldest() {
	for {
		older, newer, ok := all.oldest()
		if !ok {
			return
		}
		version := all.fields[older].APIVersion()
		union := all.fields[older].Set().Union(all.fields[newer].Set())
		bucket := Operation{Manager: "ancient-changes", APIVersion: string(version)}.updateID()
		if before := all.fields[bucket]; before != nil {
			union = union.Union(before.Set())
		}
		at := all.times[newer]
		delete(all.fields, older)
		delete(all.fields, newer)
		all.fields[bucket], all.times[bucket] = fieldpath.NewVersionedSet(union, version, false), at
	}
}

// oldest returns the two oldest update entries of one version. If ok is false, nothing needs to be
// merged.
func (all entries) oldest() (older, newer string, ok bool) {
	var updaters []metav1.ManagedFieldsEntry
	for key, set := range all.fields {
		if !set.Applied() {
			e := entryOf(key)
			e.Time = all.times[key]
			updaters = append(updaters, e)
		}
	}
	if len(updaters) <= maxUpdaters {
		return "", "", false
	}
	slices.SortFunc(updaters, byTime)
	first := map[string]string{} // by version
	for _, e := range updaters {
		if older, ok := first[e.APIVersion]; ok {
			return older, id(e), true
		}
		first[e.APIVersion] = id(e)
	}
	return "", "", false
}

// encode encodes the entries for an object. Apply entries come first. Entries of the same kind are
// sorted by time.
func (all entries) encode() ([]metav1.ManagedFieldsEntry, error) {
	var list []metav1.ManagedFieldsEntry
	for key, set := range all.fields {
		own := set.Set().Difference(unowned)
		if own.Empty() {
			continue
		}
		raw, err := own.ToJSON()
		if err != nil {
			return nil, err
		}
		e := entryOf(key)
		e.APIVersion, e.Time = string(set.APIVersion()), all.times[key]
		e.FieldsType, e.FieldsV1 = "FieldsV1", metav1.NewFieldsV1(string(raw))
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b metav1.ManagedFieldsEntry) int {
		if order := strings.Compare(string(a.Operation), string(b.Operation)); order != 0 {
			return order
		}
		return byTime(a, b)
	})
	return list, nil
}

// byTime compares entries by their time in seconds, then by manager.
func byTime(a, b metav1.ManagedFieldsEntry) int {
	if order := secondsOf(a).Compare(secondsOf(b)); order != 0 {
		return order
	}
	return strings.Compare(id(a), id(b))
}

func secondsOf(e metav1.ManagedFieldsEntry) time.Time {
	if e.Time == nil {
		return time.Time{}
	}
	return e.Time.Truncate(time.Second)
}

// unowned are the fields that never have owners, because the server sets them, or because they
// identify the object.
var unowned = fieldpath.NewSet(
	fieldpath.MakePathOrDie("apiVersion"),
	fieldpath.MakePathOrDie("kind"),
	fieldpath.MakePathOrDie("metadata"),
	fieldpath.MakePathOrDie("metadata", "name"),
	fieldpath.MakePathOrDie("metadata", "namespace"),
	fieldpath.MakePathOrDie("metadata", "creationTimestamp"),
	fieldpath.MakePathOrDie("metadata", "selfLink"),
	fieldpath.MakePathOrDie("metadata", "uid"),
	fieldpath.MakePathOrDie("metadata", "generation"),
	fieldpath.MakePathOrDie("metadata", "managedFields"),
	fieldpath.MakePathOrDie("metadata", "resourceVersion"),
)
