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

// Whole lets the page compare objects of an informer with the complete objects on the server. The
// function get returns the server's version of an object. It is called for the object that a user
// opens, and for a small sample of others. The argument informer is the name under which [Informer]
// added the informer. Without Whole, the page can show only the stored object, and which of its
// fields could be left out.
//
// From may differ from the type of the store, as with sources.Transform.
func Whole[From any](v *View, informer string, get func(ctx context.Context, key types.NamespacedName) (From, error)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.wholes[clean(informer)] = func(ctx context.Context, key types.NamespacedName) (any, error) { return get(ctx, key) }
}

// Projected compares an object on the server with the stored object, field by field. It has values
// of fields only if Options.Values allows them.
type Projected struct {
	// Keys are some of the objects that a user can choose, and Key is the shown object.
	Keys []string `json:"keys"`
	Key  string   `json:"key,omitempty"`

	// Whole reports whether Raw comes from the server: see [Whole]. Otherwise it comes from the
	// store.
	Whole bool `json:"whole,omitempty"`

	// Error says why the object, or the server's version of it, is missing.
	Error string `json:"error,omitempty"`

	// Raw and Stored are the sizes of the object as JSON in bytes, and Fields the sizes of its
	// parts.
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
// requests to the server. Measurements of the sample's objects on the server are reused for
// sampleEvery, so that a viewer does not cause a request for each object.
const (
	shownObjects   = 60
	sampledObjects = 20
	askFor         = 3 * time.Second
	sampleEvery    = 2 * time.Second
)

var errNotStored = errors.New("the object is not in the store")

// whole returns the server's version of an object.
type whole func(ctx context.Context, key types.NamespacedName) (any, error)

// serveObject answers queries about a stored object.
func (v *View) serveObject(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	p, of, err := v.stored(query.Get("of"))
	if err != nil {
		return err
	}
	v.mu.Lock()
	get := v.wholes[of.name]
	v.mu.Unlock()
	ctx, cancel := context.WithTimeout(r.Context(), askFor)
	defer cancel()
	answer, err := p.project(ctx, of.store, get, query)
	if err != nil {
		return err
	}
	return answerJSON(w, answer)
}

// project compares an object of the picture with its version on the server, and sums up the sample.
// It handles one request at a time. Other requests wait.
func (p *picture) project(ctx context.Context, store searcher, get whole, query url.Values) (*Projected, error) {
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-ctx.Done():
		return nil, refused(http.StatusServiceUnavailable, "a request of other viewers to the server is still in progress: try again")
	}
	keys, objects := store.some(shownObjects)
	answer := &Projected{Keys: []string{}, Whole: get != nil, Objects: objects}
	for _, key := range keys {
		answer.Keys = append(answer.Keys, nameOfKey(key))
	}
	key := keyOf(query.Get("key"))
	if !query.Has("key") && len(keys) > 0 {
		key = keys[0]
	}
	if key.Name != "" {
		answer.Key = nameOfKey(key)
		var err error
		if answer.Fields, answer.Raw, answer.Stored, err = compare(ctx, store, get, key, p.view.opts.Values); err != nil {
			answer.Error = clean(reason(err).Error())
		}
	}
	slices.SortFunc(answer.Keys, strings.Compare)
	sample := p.sample
	if since := time.Since(p.view.start); p.sampledAt == 0 || since-p.sampledAt > sampleEvery {
		var of []types.NamespacedName
		for at, key := range keys {
			if apart(at, sampledObjects, len(keys), len(of)) {
				of = append(of, key)
			}
		}
		sample = sampled(ctx, get, of)
		if ctx.Err() == nil { // If ctx has ended, the sample is incomplete.
			p.sample, p.sampledAt = sample, since
		}
	}
	answer.Sample = added(store, sample)
	return answer, nil
}

// compare measures an object in the store and on the server.
func compare(ctx context.Context, store searcher, get whole, key types.NamespacedName, values bool) (fields []Field, raw, stored int, err error) {
	have, stored, err := kept(store, key, values)
	if err != nil {
		return nil, 0, 0, err
	}
	s, err := ask(ctx, get, key, values)
	if err != nil {
		return nil, 0, 0, err
	}
	fields, raw = s.beside(have, stored)
	return fields, raw, stored, nil
}

// kept measures an object in the store.
func kept(store searcher, key types.NamespacedName, values bool) ([]Field, int, error) {
	object, ok := store.object(key)
	if !ok {
		return nil, 0, errNotStored
	}
	return fieldsOf(object, values, func(f *Field, n int) { f.Stored = n })
}

// served is the measurement of an object on the server.
type served struct {
	key     types.NamespacedName
	fields  []Field
	raw     int
	unknown bool // the server cannot be reached
}

// ask measures an object on the server. If get is nil, it does not ask the server.
func ask(ctx context.Context, get whole, key types.NamespacedName, values bool) (served, error) {
	if get == nil {
		return served{key: key, unknown: true}, nil
	}
	object, err := get(ctx, key)
	if err != nil {
		return served{}, err
	}
	fields, raw, err := fieldsOf(object, values, func(f *Field, n int) { f.Raw = n })
	return served{key: key, fields: fields, raw: raw}, err
}

// beside merges the fields of both sides, and returns the object's size on the server.
func (s served) beside(have []Field, stored int) ([]Field, int) {
	if s.unknown {
		for n := range have {
			have[n].Raw = have[n].Stored
		}
		return have, stored
	}
	return joined(slices.Clone(s.fields), have), s.raw
}

// joined merges fields into a list, by their paths.
func joined(to, more []Field) []Field {
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

// sampled measures some objects on the server. It leaves out objects that the server does not
// return.
func sampled(ctx context.Context, get whole, keys []types.NamespacedName) (all []served) {
	for _, key := range keys {
		s, err := ask(ctx, get, key, false)
		if ctx.Err() != nil {
			break
		}
		if err == nil {
			all = append(all, s)
		}
	}
	return all
}

// added sums a sample and the current sizes of its objects in the store.
func added(store searcher, sample []served) (sum Sample) {
	for _, s := range sample {
		have, stored, err := kept(store, s.key, false)
		if err != nil {
			continue
		}
		fields, raw := s.beside(have, stored)
		sum.Objects++
		sum.Raw += raw
		sum.Stored += stored
		sum.Fields = joined(sum.Fields, fields)
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

// sizes estimates the size of a store from a few objects. It repeats the estimate from time to
// time.
type sizes struct {
	at   time.Duration
	each float64 // estimated bytes of an object; 0 if not known
}

// An estimate measures sizedObjects objects. It stops earlier if large objects reach enoughBytes.
// It is renewed every sizeEvery.
const (
	sizedObjects = 12
	sizeEvery    = 10 * time.Second
	enoughBytes  = 1 << 20
)

// bytes estimates the size of a store as JSON in bytes.
func (s *sizes) bytes(store searcher, objects int, since time.Duration) (float64, bool) {
	if store == nil || objects == 0 {
		return 0, false
	}
	if s.each == 0 || since-s.at > sizeEvery {
		s.at = since
		keys, _ := store.some(sizedObjects)
		sum, n := 0, 0
		for _, key := range keys {
			if object, ok := store.object(key); ok && sum < enoughBytes {
				if size, err := sizeOf(object); err == nil {
					sum, n = sum+size, n+1
				}
			}
		}
		s.each = float64(sum) / float64(max(n, 1))
	}
	return s.each * float64(objects), s.each > 0
}
