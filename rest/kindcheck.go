package rest

import (
	"reflect"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/rest/internal/wire"
)

// kindChecker has the expected kind of a Resource's objects, and compares it with the kind in each
// response. Without this check, nothing would notice an object of another kind whose bytes fit: a
// ConfigMap decodes as a Secret. A response may lack a kind, like the items of a typed list.
//
// If the kind is not known, the first response determines it. The first list determines the kind of
// lists separately, because the author of a custom resource chooses both names. When the server
// responds with 404, the Resource gets a new kindChecker, because another CRD may define a resource
// of this name later. An open stream keeps its old kindChecker.
type kindChecker struct {
	apiVersion string // of the request; "" accepts any
	kind       string // "" if the first response determines it
	builtin    bool   // the kind of lists is kind + "List"
	partial    bool   // T is *metav1.PartialObjectMetadata

	firstKind, firstListKind atomic.Pointer[string] // the first kinds in responses, if kind is ""
}

// An API server may send an object of this kind in place of any object.
const (
	partialKind = "PartialObjectMetadata"
	metaGroup   = "meta.k8s.io/" // prefix of its apiVersion
)

// newKindChecker returns the kindChecker of a resource. The expected kind is the user's, otherwise
// the kind of a built-in type, otherwise the kind of a built-in resource.
func newKindChecker(gvr schema.GroupVersionResource, kind string, t reflect.Type, partial bool) *kindChecker {
	k := &kindChecker{apiVersion: gvr.GroupVersion().String(), kind: kind, partial: partial}
	if k.kind == "" && t.Kind() == reflect.Pointer {
		if resource, _, ok := builtinType(t.Elem()); ok && resource.Group == gvr.Group {
			k.kind, k.builtin = t.Elem().Name(), true
		}
	}
	if k.kind == "" {
		k.kind = builtinKind(gvr.GroupResource())
		k.builtin = k.kind != ""
	}
	return k
}

// checkObject returns an error if the object's kind is not the expected one. A missing kind is not
// an error.
func (k *kindChecker) checkObject(apiVersion, kind []byte) error {
	switch {
	case k == nil || len(kind) == 0:
		return nil
	case k.kind != "" && string(kind) == k.kind && string(apiVersion) == k.apiVersion:
		return nil // nearly always
	case k.partial && string(kind) == partialKind && isMetaGroup(apiVersion):
		return nil
	case k.apiVersion != "" && len(apiVersion) > 0 && string(apiVersion) != k.apiVersion, isNonObjectKind(apiVersion, kind):
		return k.unexpected(apiVersion, kind, orDefault(k.kind, loadText(&k.firstKind)))
	case k.kind != "":
		if string(kind) != k.kind {
			return k.unexpected(apiVersion, kind, k.kind)
		}
	case !storeFirst(&k.firstKind, kind):
		return k.unexpected(apiVersion, kind, loadText(&k.firstKind))
	}
	return nil
}

// checkList does the work of checkObject for a list. The apiVersion of a list may be missing. Some
// extension API servers respond with a List of v1, whose items name their kinds.
func (k *kindChecker) checkList(apiVersion, kind string) error {
	if !strings.HasSuffix(kind, "List") {
		return wire.Malformed("a list is expected, but the response is of kind %q", wire.Excerpt([]byte(kind), maxShownBytes))
	}
	if k == nil {
		return nil
	}
	want := loadText(&k.firstListKind)
	if k.builtin {
		want = k.kind + "List"
	}
	switch {
	case kind == "List" && (apiVersion == "" || apiVersion == "v1"):
		return nil
	case k.partial && kind == partialKind+"List" && (apiVersion == "" || isMetaGroup([]byte(apiVersion))):
		return nil
	case k.apiVersion != "" && apiVersion != "" && apiVersion != k.apiVersion, isNonObjectKind([]byte(apiVersion), []byte(kind)):
		return k.unexpected([]byte(apiVersion), []byte(kind), want)
	case k.builtin && kind != want, !k.builtin && !storeFirst(&k.firstListKind, []byte(kind)):
		return k.unexpected([]byte(apiVersion), []byte(kind), orDefault(want, loadText(&k.firstListKind)))
	}
	return nil
}

// unexpected returns the error for an object or a list of another kind than the expected one.
func (k *kindChecker) unexpected(apiVersion, kind []byte, want string) error {
	if want == "" {
		want = "an object"
	}
	version := orDefault(k.apiVersion, "any version")
	if k.partial {
		version += ", or metadata alone,"
	}
	return wire.Malformed("%s of %s is expected, but the response has the kind %q of %q: check that the Go type matches the resource, and that the address is that of the API server",
		want, version, wire.Excerpt(kind, maxShownBytes), wire.Excerpt(apiVersion, maxShownBytes))
}

// maxShownBytes bounds the bytes of a server's name that an error shows.
const maxShownBytes = 128

// isNonObjectKind reports whether a server may send this kind instead of an object of the requested
// kind.
func isNonObjectKind(apiVersion, kind []byte) bool {
	switch string(kind) {
	case "Status", "List", "APIResourceList", "APIGroupList", "APIGroup", "APIVersions", "WatchEvent":
		return len(apiVersion) == 0 || string(apiVersion) == "v1" || isMetaGroup(apiVersion)
	case "Table", partialKind, partialKind + "List":
		return len(apiVersion) == 0 || isMetaGroup(apiVersion)
	}
	return false
}

func isMetaGroup(apiVersion []byte) bool {
	return len(apiVersion) > len(metaGroup) && string(apiVersion[:len(metaGroup)]) == metaGroup
}

// addTypeMeta adds kind and apiVersion to an object that lacks them. The object is in JSON without
// spaces. It adds nothing to built-in types, because servers know their kinds, and nothing if the
// kind is not known beforehand.
func (k *kindChecker) addTypeMeta(object []byte) []byte {
	if k.kind == "" || k.builtin || k.partial || object[0] != '{' {
		return object
	}
	apiVersion, kind := typeMetaOf(object)
	head := "{"
	if len(apiVersion) == 0 {
		head += `"apiVersion":"` + k.apiVersion + `",`
	}
	if len(kind) == 0 {
		head += `"kind":"` + k.kind + `",`
	}
	if head == "{" {
		return object
	}
	if object[1] == '}' {
		head = head[:len(head)-1]
	}
	return append([]byte(head), object[1:]...)
}

// typeMetaOf reads apiVersion and kind of an object in JSON, at any position.
func typeMetaOf(object []byte) (apiVersion, kind []byte) {
	for key, value := range wire.JSONFields(object) {
		switch string(key) {
		case "apiVersion":
			apiVersion = wire.JSONText(value)
		case "kind":
			kind = wire.JSONText(value)
		}
		if len(apiVersion) > 0 && len(kind) > 0 {
			break
		}
	}
	return apiVersion, kind
}

// storeFirst stores kind if nothing is stored yet, and reports whether kind equals the stored kind.
func storeFirst(at *atomic.Pointer[string], kind []byte) bool {
	was := at.Load()
	if was == nil {
		text := string(kind)
		if at.CompareAndSwap(nil, &text) {
			return true
		}
		was = at.Load()
	}
	return *was == string(kind)
}

// fresh returns a kindChecker for the same resource, without the kinds that earlier responses
// determined.
func (k *kindChecker) fresh() *kindChecker {
	return &kindChecker{apiVersion: k.apiVersion, kind: k.kind, builtin: k.builtin, partial: k.partial}
}

func loadText(at *atomic.Pointer[string]) string {
	if was := at.Load(); was != nil {
		return *was
	}
	return ""
}

// builtinKind returns the kind of a built-in resource, or "".
func builtinKind(resource schema.GroupResource) string {
	for line := range strings.Lines(builtins) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.TrimPrefix(fields[1], "-") != resource.Group {
			continue
		}
		for _, name := range fields[2:] {
			if name = strings.TrimSuffix(name, "*"); plural(name) == resource.Resource {
				return name
			}
		}
	}
	return ""
}
