package warmstart

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// header describes the content of a file.
type header struct {
	// the source's description of itself
	Source          map[string]string `json:"source,omitempty"`
	Name            string            `json:"name,omitempty"` // Options.Source
	Projection      string            `json:"projection,omitempty"`
	Type            string            `json:"type"`
	Fields          string            `json:"fields"` // a hash of the type's fields
	API             string            `json:"api,omitempty"`
	Codec           string            `json:"codec"`
	Secrets         bool              `json:"secrets,omitempty"` // The file may contain Secrets.
	ResourceVersion string            `json:"resourceVersion"`
	Count           int               `json:"count"`
}

// difference describes how h differs from the wanted header, or returns "".
func (h header) difference(want header) string {
	names := slices.Concat(slices.Collect(maps.Keys(want.Source)), slices.Collect(maps.Keys(h.Source)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		have, ok := h.Source[name]
		if wanted, known := want.Source[name]; have != wanted || ok != known {
			return mismatch("the source's "+name, have, wanted)
		}
	}
	for _, d := range []struct{ name, have, want string }{
		{"Options.Source", h.Name, want.Name},
		{"Options.Projection", h.Projection, want.Projection},
		{"Go type", h.Type, want.Type},
		{"version of k8s.io/api", h.API, want.API},
		{"hash of the type's fields", h.Fields, want.Fields},
		{"codec", h.Codec, want.Codec},
	} {
		if d.have != d.want {
			return mismatch(d.name, d.have, d.want)
		}
	}
	return ""
}

func mismatch(name, have, want string) string {
	return fmt.Sprintf("%s is %q instead of %q", name, have, want)
}

// typeName is the name of a type with its package path: there is more than one v1.Pod.
func typeName(t reflect.Type) string {
	switch {
	case t.Name() != "" && t.PkgPath() != "":
		return t.PkgPath() + "." + t.Name()
	case t.Name() != "":
		return t.Name()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + typeName(t.Elem())
	case reflect.Slice:
		return "[]" + typeName(t.Elem())
	case reflect.Map:
		return "map[" + typeName(t.Key()) + "]" + typeName(t.Elem())
	default:
		return t.String()
	}
}

// fieldsOf returns a hash of all fields of a type. If the type lacked a field when a file was
// saved, the file lacks the values of that field, and must not be used.
func fieldsOf(t reflect.Type) string {
	w := typeHasher{sum: sha256.New(), seen: map[reflect.Type]int{}}
	w.add(t)
	return hex.EncodeToString(w.sum.Sum(nil))
}

type typeHasher struct {
	sum  hash.Hash
	seen map[reflect.Type]int
}

func (w typeHasher) add(t reflect.Type) {
	n, known := w.seen[t]
	if !known {
		n = len(w.seen)
		w.seen[t] = n
	}
	fmt.Fprintf(w.sum, "%d %q %v\n", n, typeName(t), t.Kind())
	if known {
		return
	}
	switch t.Kind() {
	case reflect.Map:
		w.add(t.Key())
		w.add(t.Elem())
	case reflect.Array:
		fmt.Fprintln(w.sum, t.Len())
		w.add(t.Elem())
	case reflect.Pointer, reflect.Slice:
		w.add(t.Elem())
	case reflect.Struct:
		fmt.Fprintln(w.sum, t.NumField())
		for i := range t.NumField() {
			field := t.Field(i)
			fmt.Fprintf(w.sum, "%q %q %v\n", field.Name, field.Tag, field.Anonymous)
			w.add(field.Type)
		}
	}
}

// apiVersion is the version of k8s.io/api in this program, or "" if it has none.
var apiVersion = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return moduleVersion(info, "k8s.io/api")
})

// moduleVersion is the version of a module, and of its replacement.
func moduleVersion(info *debug.BuildInfo, path string) string {
	for _, module := range info.Deps {
		if module.Path != path {
			continue
		}
		version := []string{module.Version}
		for r := module.Replace; r != nil; r = r.Replace {
			version = append(version, r.Path, r.Version)
		}
		return strings.TrimSpace(strings.Join(version, " "))
	}
	return ""
}
