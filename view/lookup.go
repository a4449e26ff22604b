package view

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
)

// Lookup is the response to a query about indexes.
type Lookup struct {
	// Indexes are the indexes of the store, by name.
	Indexes []IndexValues `json:"indexes"`

	// Result is the result of a look-up, if the query has an index and a value.
	Result *LookupResult `json:"found,omitempty"`
}

// IndexValues describes the values of an index.
type IndexValues struct {
	Name   string `json:"name"`
	Values int    `json:"values"`

	// Top has the most frequent values.
	Top []IndexValue `json:"some,omitempty"`
}

// IndexValue is a value of an index.
type IndexValue struct {
	Value   string `json:"value"`
	Objects int    `json:"objects"`

	// Text is the text for the page if Value is not safe to show. It has no control characters and
	// may be shortened.
	Text string `json:"text,omitempty"`
}

// LookupResult compares an index look-up with a scan of all objects.
type LookupResult struct {
	// Objects is the number of objects with the value, and All is the number of objects in the
	// store.
	Objects int `json:"objects"`
	All     int `json:"all"`

	// Lookup is the time of the index look-up, and Scan is the time of the scan, both in seconds.
	// The scan only visits the objects.
	Lookup float64 `json:"lookup"`
	Scan   float64 `json:"scan"`

	// Keys are the first keys found.
	Keys []string `json:"keys,omitempty"`
}

// Limits for a response: the shown values of an index, and the shown objects of a value. A store
// with more than maxScanned objects is not scanned. An index with more than maxValues values has no
// list of values.
const (
	maxShownValues = 40
	maxShownKeys   = 100
	maxScanned     = 1_000_000
	maxValues      = 20_000
)

// objectStore is a store whose objects and indexes can be queried.
type objectStore interface {
	values() []IndexValues
	find(index, value string) (*LookupResult, error)
	object(key types.NamespacedName) (any, bool)
	sampleKeys(n int) (keys []types.NamespacedName, of int)
}

type storeReader[T any] func() *indexer.Reader[T]

func (store storeReader[T]) values() []IndexValues {
	all := []IndexValues{}
	s := store()
	sizes := s.Stats().Indexes
	for _, name := range s.Indexes() {
		index := IndexValues{Name: clean(name), Values: sizes[name]}
		if values, err := s.IndexValues(name); err == nil && sizes[name] <= maxValues {
			for value, objects := range values {
				index.Top = append(index.Top, IndexValue{Value: value, Objects: objects})
			}
		}
		slices.SortFunc(index.Top, func(a, b IndexValue) int {
			return cmp.Or(cmp.Compare(b.Objects, a.Objects), cmp.Compare(a.Value, b.Value))
		})
		index.Top = index.Top[:min(len(index.Top), maxShownValues)]
		for n, v := range index.Top {
			if text := clean(v.Value); text != v.Value {
				index.Top[n].Text = text
			}
		}
		all = append(all, index)
	}
	return all
}

func (store storeReader[T]) find(name, value string) (*LookupResult, error) {
	s := store()
	index, err := s.Index(name)
	if err != nil {
		return nil, err
	}
	f := &LookupResult{}
	began := time.Now()
	for range index.Having(value) {
		f.Objects++
	}
	f.Lookup = time.Since(began).Seconds()
	if f.All = s.Len(); f.All <= maxScanned {
		began = time.Now()
		for range s.All() {
		}
		f.Scan = time.Since(began).Seconds()
	}
	for key := range index.Having(value) {
		if len(f.Keys) == maxShownKeys {
			break
		}
		f.Keys = append(f.Keys, nameOfKey(key))
	}
	return f, nil
}

func (store storeReader[T]) object(key types.NamespacedName) (any, bool) { return store().Get(key) }

// sampleKeys(n) returns the keys of n objects that are spread over the store, and the number of all
// objects. In a large store, all of them are among the first maxValues objects.
func (store storeReader[T]) sampleKeys(n int) (keys []types.NamespacedName, of int) {
	s := store()
	of = s.Len()
	among, at := max(min(of, maxValues), 1), 0 // The store may have grown meanwhile.
	for key := range s.All() {
		if inSpacedSample(at, n, among, len(keys)) {
			keys = append(keys, key)
		}
		if at++; len(keys) == n || at >= among {
			break
		}
	}
	return keys, of
}

// inSpacedSample(at, n, among, taken) reports whether the element with index at belongs to a
// sample. The sample has n elements, evenly spaced. The argument among is the number of all
// elements. The argument taken is the number of elements in the sample so far.
func inSpacedSample(at, n, among, taken int) bool { return at*n/among >= taken }

// serveLookup answers queries about indexes.
func (v *View) serveLookup(w http.ResponseWriter, r *http.Request) error {
	if !v.opts.IndexValues {
		return statusErrorf(http.StatusForbidden, "values of indexes are not shown: the program has not set Options.IndexValues")
	}
	query := r.URL.Query()
	_, of, err := v.storeOf(query.Get("of"))
	if err != nil {
		return err
	}
	response := Lookup{Indexes: of.store.values()}
	if query.Has("index") {
		found, err := of.store.find(query.Get("index"), query.Get("value"))
		if err != nil {
			return statusErrorf(http.StatusNotFound, "%w", err)
		}
		response.Result = found
	}
	return writeJSON(w, response)
}
