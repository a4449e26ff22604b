package view

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// ServerObjects lets the page compare objects of an informer with the complete objects on the
// server. The function get returns the server's version of an object. The view calls get for the
// object that a user opens, and for a small sample of others. The argument informer is the name
// under which [Informer] added the informer. Without ServerObjects, the page shows only the stored
// object, and which of its fields could be left out.
//
// From may differ from the type of the store, as with sources.Transform.
func ServerObjects[From any](v *View, informer string, get func(ctx context.Context, key types.NamespacedName) (From, error)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.objectGetters[clean(informer)] = func(ctx context.Context, key types.NamespacedName) (any, error) { return get(ctx, key) }
}

// ObjectSizes compares an object on the server with the stored object, field by field. It has
// values of fields only if Options.Values allows them.
type ObjectSizes struct {
	// Keys are some of the objects that a user can choose. Key is the shown object.
	Keys []string `json:"keys"`
	Key  string   `json:"key,omitempty"`

	// FromServer reports whether Raw comes from the server: see [ServerObjects]. Otherwise Raw
	// comes from the store.
	FromServer bool `json:"whole,omitempty"`

	// Error says why the object, or the server's version of it, is missing.
	Error string `json:"error,omitempty"`

	// Raw and Stored are the sizes of the object as JSON in bytes, and Fields has the sizes of its
	// fields.
	Raw    int     `json:"raw"`
	Stored int     `json:"stored"`
	Fields []Field `json:"fields,omitempty"`

	// Sample has the sums over a few objects. Objects is the number of objects in the store.
	Sample  Sample `json:"sample"`
	Objects int    `json:"objects"`
}

// Sample has the total sizes of a few objects in bytes.
type Sample struct {
	Objects int     `json:"objects"`
	Raw     int     `json:"raw"`
	Stored  int     `json:"stored"`
	Fields  []Field `json:"fields,omitempty"`
}

// Limits for a response: the keys to choose from, the objects in the sample, and the time for
// requests to the server. The view reuses the measurements of the sample on the server for
// sampleInterval, so that a viewer does not cause a request for each object.
const (
	maxShownObjects = 60
	sampledObjects  = 20
	serverTimeout   = 3 * time.Second
	sampleInterval  = 2 * time.Second
)

var errNotStored = errors.New("the object is not in the store")

// objectGetter returns the server's version of an object.
type objectGetter func(ctx context.Context, key types.NamespacedName) (any, error)

// serveObject answers queries about a stored object.
func (v *View) serveObject(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	p, of, err := v.storeOf(query.Get("of"))
	if err != nil {
		return err
	}
	v.mu.Lock()
	get := v.objectGetters[of.name]
	v.mu.Unlock()
	ctx, cancel := context.WithTimeout(r.Context(), serverTimeout)
	defer cancel()
	response, err := p.compareObject(ctx, of.store, get, query)
	if err != nil {
		return err
	}
	return writeJSON(w, response)
}

// compareObject compares an object of the pipeline with its version on the server, and sums up the
// sample. It handles one request at a time. Other requests wait.
func (p *frameBuilder) compareObject(ctx context.Context, store objectStore, get objectGetter, query url.Values) (*ObjectSizes, error) {
	select {
	case p.serverRequest <- struct{}{}:
		defer func() { <-p.serverRequest }()
	case <-ctx.Done():
		return nil, statusErrorf(http.StatusServiceUnavailable, "a request of other viewers to the server is still in progress: try again")
	}
	keys, objects := store.sampleKeys(maxShownObjects)
	response := &ObjectSizes{Keys: []string{}, FromServer: get != nil, Objects: objects}
	for _, key := range keys {
		response.Keys = append(response.Keys, nameOfKey(key))
	}
	key := keyOf(query.Get("key"))
	if !query.Has("key") && len(keys) > 0 {
		key = keys[0]
	}
	if key.Name != "" {
		response.Key = nameOfKey(key)
		var err error
		if response.Fields, response.Raw, response.Stored, err = compare(ctx, store, get, key, p.view.opts.Values); err != nil {
			response.Error = clean(rootCause(err).Error())
		}
	}
	slices.SortFunc(response.Keys, strings.Compare)
	sample := p.sample
	if since := time.Since(p.view.start); p.sampledAt == 0 || since-p.sampledAt > sampleInterval {
		var of []types.NamespacedName
		for at, key := range keys {
			if inSpacedSample(at, sampledObjects, len(keys), len(of)) {
				of = append(of, key)
			}
		}
		sample = measureSample(ctx, get, of)
		if ctx.Err() == nil { // If ctx has ended, the sample is incomplete.
			p.sample, p.sampledAt = sample, since
		}
	}
	response.Sample = sumSample(store, sample)
	return response, nil
}

// compare measures an object in the store and on the server.
func compare(ctx context.Context, store objectStore, get objectGetter, key types.NamespacedName, values bool) (fields []Field, raw, stored int, err error) {
	have, stored, err := measureStored(store, key, values)
	if err != nil {
		return nil, 0, 0, err
	}
	s, err := measureOnServer(ctx, get, key, values)
	if err != nil {
		return nil, 0, 0, err
	}
	fields, raw = s.mergeWith(have, stored)
	return fields, raw, stored, nil
}

// measureStored measures an object in the store.
func measureStored(store objectStore, key types.NamespacedName, values bool) ([]Field, int, error) {
	object, ok := store.object(key)
	if !ok {
		return nil, 0, errNotStored
	}
	return fieldsOf(object, values, func(f *Field, n int) { f.Stored = n })
}

// serverSizes is the measurement of an object on the server.
type serverSizes struct {
	key     types.NamespacedName
	fields  []Field
	raw     int
	unknown bool // the server cannot be reached
}

// measureOnServer measures an object on the server. If get is nil, it sends no request.
func measureOnServer(ctx context.Context, get objectGetter, key types.NamespacedName, values bool) (serverSizes, error) {
	if get == nil {
		return serverSizes{key: key, unknown: true}, nil
	}
	object, err := get(ctx, key)
	if err != nil {
		return serverSizes{}, err
	}
	fields, raw, err := fieldsOf(object, values, func(f *Field, n int) { f.Raw = n })
	return serverSizes{key: key, fields: fields, raw: raw}, err
}

// mergeWith merges the fields of both sides, and returns the object's size on the server.
func (s serverSizes) mergeWith(have []Field, stored int) ([]Field, int) {
	if s.unknown {
		for n := range have {
			have[n].Raw = have[n].Stored
		}
		return have, stored
	}
	return mergeFields(slices.Clone(s.fields), have), s.raw
}

// mergeFields merges fields into a list, by their paths.
func mergeFields(to, more []Field) []Field {
	for _, f := range more {
		at := slices.IndexFunc(to, func(x Field) bool { return x.Path == f.Path })
		if at < 0 {
			to = append(to, f)
			continue
		}
		to[at].Raw += f.Raw
		to[at].Stored += f.Stored
	}
	return to
}

// measureSample measures some objects on the server. It skips objects that the server does not
// return.
func measureSample(ctx context.Context, get objectGetter, keys []types.NamespacedName) (all []serverSizes) {
	for _, key := range keys {
		s, err := measureOnServer(ctx, get, key, false)
		if ctx.Err() != nil {
			break
		}
		if err == nil {
			all = append(all, s)
		}
	}
	return all
}

// sumSample adds up the sizes of a sample, and the current sizes of its objects in the store.
func sumSample(store objectStore, sample []serverSizes) (sum Sample) {
	for _, s := range sample {
		have, stored, err := measureStored(store, s.key, false)
		if err != nil {
			continue
		}
		fields, raw := s.mergeWith(have, stored)
		sum.Objects++
		sum.Raw += raw
		sum.Stored += stored
		sum.Fields = mergeFields(sum.Fields, fields)
	}
	for n := range sum.Fields {
		sum.Fields[n].Entries = 0
	}
	return sum
}

// keyOf parses a key that nameOfKey has formatted.
func keyOf(text string) (key types.NamespacedName) {
	if namespace, name, ok := strings.Cut(text, "/"); ok {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}
	return types.NamespacedName{Name: text}
}

// sizeEstimate estimates the size of a store from a few objects. It renews the estimate from time
// to time.
type sizeEstimate struct {
	at        time.Duration
	perObject float64 // estimated bytes of an object; 0 if not known
}

// An estimate measures estimateObjects objects, or fewer if large objects reach estimateBytes. It
// is renewed every estimateInterval.
const (
	estimateObjects  = 12
	estimateInterval = 10 * time.Second
	estimateBytes    = 1 << 20
)

// bytes estimates the size of a store as JSON in bytes.
func (s *sizeEstimate) bytes(store objectStore, objects int, since time.Duration) (float64, bool) {
	if store == nil || objects == 0 {
		return 0, false
	}
	if s.perObject == 0 || since-s.at > estimateInterval {
		s.at = since
		keys, _ := store.sampleKeys(estimateObjects)
		sum, n := 0, 0
		for _, key := range keys {
			if object, ok := store.object(key); ok && sum < estimateBytes {
				if size, err := sizeOf(object); err == nil {
					sum, n = sum+size, n+1
				}
			}
		}
		s.perObject = float64(sum) / float64(max(n, 1))
	}
	return s.perObject * float64(objects), s.perObject > 0
}
