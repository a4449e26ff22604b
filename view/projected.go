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

// Whole has the page compare objects of an informer with what the server has, before anything was left out. get returns
// an object as the server has it; it is called when somebody opens the picture for that, for one object and for a small sample of others.
// informer is the name under which [Informer] has added it. Without Whole, the page says what could be left out of what is stored.
//
// From may be another type than that of the store, as with sources.Transform.
func Whole[From any](v *View, informer string, get func(ctx context.Context, key types.NamespacedName) (From, error)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.wholes[clean(informer)] = func(ctx context.Context, key types.NamespacedName) (any, error) { return get(ctx, key) }
}

// Projected is an object as the server has it beside the same as the store has it, field by field. Values of fields are not in
// it, unless Options.Values lets them.
type Projected struct {
	// Keys are some of the objects to choose from, and Key is the one that is shown.
	Keys []string `json:"keys"`
	Key  string   `json:"key,omitempty"`

	// Whole is whether Raw is what the server has: see [Whole]. Otherwise it is what the store has.
	Whole bool `json:"whole,omitempty"`

	// Error says why there is no object, or none of the server's.
	Error string `json:"error,omitempty"`

	// Raw and Stored are the bytes of the object, as JSON, and Fields those of its parts.
	Raw    int     `json:"raw"`
	Stored int     `json:"stored"`
	Fields []Field `json:"fields,omitempty"`

	// Sample has the same of a few objects, added up, of Objects in the store.
	Sample  Sample `json:"sample"`
	Objects int    `json:"objects"`
}

// Sample are the bytes of a few objects, added up.
type Sample struct {
	Objects int     `json:"objects"`
	Raw     int     `json:"raw"`
	Stored  int     `json:"stored"`
	Fields  []Field `json:"fields,omitempty"`
}

// Bounds of an answer: keys to choose from, objects of the sample, and for how long the server is asked. What the server has of the
// sample is used again for as long as sampleEvery, so that each viewer has it asked for one object, and not for all of the sample.
const (
	shownObjects   = 60
	sampledObjects = 20
	askFor         = 3 * time.Second
	sampleEvery    = 2 * time.Second
)

var errNotStored = errors.New("the store does not have it")

// whole returns an object as the server has it.
type whole func(ctx context.Context, key types.NamespacedName) (any, error)

// serveObject answers questions about what is stored of an object.
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

// project compares an object of the picture, and its sample: one request at a time, the others wait.
func (p *picture) project(ctx context.Context, store searcher, get whole, query url.Values) (*Projected, error) {
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-ctx.Done():
		return nil, refused(http.StatusServiceUnavailable, "the server is still asked for other viewers: try again")
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
		if ctx.Err() == nil { // Otherwise it is a part of one.
			p.sample, p.sampledAt = sample, since
		}
	}
	answer.Sample = added(store, sample)
	return answer, nil
}

// compare measures an object, as it is stored and as the server has it.
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

// kept measures an object as it is stored.
func kept(store searcher, key types.NamespacedName, values bool) ([]Field, int, error) {
	object, ok := store.object(key)
	if !ok {
		return nil, 0, errNotStored
	}
	return fieldsOf(object, values, func(f *Field, n int) { f.Stored = n })
}

// served is an object as the server has it.
type served struct {
	key     types.NamespacedName
	fields  []Field
	raw     int
	unknown bool // nobody can ask the server
}

// ask measures an object as the server has it. Without get, the server is not asked.
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

// beside returns the fields of both sides, and the bytes of the server's.
func (s served) beside(have []Field, stored int) ([]Field, int) {
	if s.unknown {
		for n := range have {
			have[n].Raw = have[n].Stored
		}
		return have, stored
	}
	return joined(slices.Clone(s.fields), have), s.raw
}

// joined adds fields to those of the same paths.
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

// sampled measures some objects as the server has them. Those that it does not tell of are left out.
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

// added adds up a sample and what is stored of it now.
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

// keyOf reads what nameOfKey has written.
func keyOf(text string) (key types.NamespacedName) {
	if namespace, name, ok := strings.Cut(text, "/"); ok {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}
	return types.NamespacedName{Name: text}
}

// sizes estimates the bytes of a store, by a look at a few objects now and then.
type sizes struct {
	at   time.Duration
	each float64 // bytes of an object; 0 if it is not known
}

// Sizes are of sizedObjects objects, looked at every sizeEvery. Of large objects, fewer are enough.
const (
	sizedObjects = 12
	sizeEvery    = 10 * time.Second
	enoughBytes  = 1 << 20
)

// bytes returns about how many bytes a store has as JSON.
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
