package decode

import (
	"cmp"
	"strings"
	"sync/atomic"

	"github.com/kinform/kinform/rest/internal/wire"
)

// Kinds has what is known about the kind of a resource's objects before the first response.
type Kinds struct {
	APIVersion string // of the request; "" accepts any
	Kind       string // "" if the first response determines it
	Builtin    bool   // the kind of lists is Kind + "List"
	Partial    bool   // the objects are of type *metav1.PartialObjectMetadata
}

// KindChecker has the expected kind of a Resource's objects, and compares it with the kind in each
// response. Without this check, nothing would notice an object of another kind whose bytes fit: a
// ConfigMap decodes as a Secret. A response may lack a kind, like the items of a typed list.
//
// If the kind is not known, the first response determines it. The first list determines the kind of
// lists separately, because the author of a custom resource chooses both names. When the server
// responds with 404, the Resource gets a new KindChecker, because another CRD may define a resource
// of this name later. An open stream keeps its old KindChecker.
type KindChecker struct {
	Kinds
	firstKind, firstListKind atomic.Pointer[string] // the first kinds in responses, if kind is ""
}

// NewKindChecker returns a KindChecker for a resource.
func NewKindChecker(kinds Kinds) *KindChecker { return &KindChecker{Kinds: kinds} }

// An API server may send an object of this kind in place of any object.
const (
	partialKind = "PartialObjectMetadata"
	metaGroup   = "meta.k8s.io/" // prefix of its apiVersion
)

// CheckObject returns an error if the object's kind is not the expected one. A missing kind is not
// an error.
func (k *KindChecker) CheckObject(apiVersion, kind []byte) error {
	switch {
	case k == nil || len(kind) == 0:
		return nil
	case k.Kind != "" && string(kind) == k.Kind && string(apiVersion) == k.APIVersion:
		return nil // nearly always
	case k.Partial && string(kind) == partialKind && isMetaGroup(apiVersion):
		return nil
	case k.APIVersion != "" && len(apiVersion) > 0 && string(apiVersion) != k.APIVersion, isNonObjectKind(apiVersion, kind):
		return k.unexpected(apiVersion, kind, cmp.Or(k.Kind, loadText(&k.firstKind)))
	case k.Kind != "":
		if string(kind) != k.Kind {
			return k.unexpected(apiVersion, kind, k.Kind)
		}
	case !storeFirst(&k.firstKind, kind):
		return k.unexpected(apiVersion, kind, loadText(&k.firstKind))
	}
	return nil
}

// CheckList does the work of CheckObject for a list. The apiVersion of a list may be missing. Some
// extension API servers respond with a List of v1, whose items name their kinds.
func (k *KindChecker) CheckList(apiVersion, kind string) error {
	if !strings.HasSuffix(kind, "List") {
		return wire.Malformed("a list is expected, but the response is of kind %q", wire.Excerpt([]byte(kind), maxShownBytes))
	}
	if k == nil {
		return nil
	}
	want := loadText(&k.firstListKind)
	if k.Builtin {
		want = k.Kind + "List"
	}
	switch {
	case kind == "List" && (apiVersion == "" || apiVersion == "v1"):
		return nil
	case k.Partial && kind == partialKind+"List" && (apiVersion == "" || isMetaGroup([]byte(apiVersion))):
		return nil
	case k.APIVersion != "" && apiVersion != "" && apiVersion != k.APIVersion, isNonObjectKind([]byte(apiVersion), []byte(kind)):
		return k.unexpected([]byte(apiVersion), []byte(kind), want)
	case k.Builtin && kind != want, !k.Builtin && !storeFirst(&k.firstListKind, []byte(kind)):
		return k.unexpected([]byte(apiVersion), []byte(kind), cmp.Or(want, loadText(&k.firstListKind)))
	}
	return nil
}

// unexpected returns the error for an object or a list of another kind than the expected one.
func (k *KindChecker) unexpected(apiVersion, kind []byte, want string) error {
	if want == "" {
		want = "an object"
	}
	version := cmp.Or(k.APIVersion, "any version")
	if k.Partial {
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

// AddTypeMeta adds kind and apiVersion to an object that lacks them. The object is in JSON without
// spaces. It adds nothing to built-in types, because servers know their kinds, and nothing if the
// kind is not known beforehand.
func (k *KindChecker) AddTypeMeta(object []byte) []byte {
	if k.Kind == "" || k.Builtin || k.Partial || object[0] != '{' {
		return object
	}
	apiVersion, kind := TypeMeta(object)
	head := "{"
	if len(apiVersion) == 0 {
		head += `"apiVersion":"` + k.APIVersion + `",`
	}
	if len(kind) == 0 {
		head += `"kind":"` + k.Kind + `",`
	}
	if head == "{" {
		return object
	}
	if object[1] == '}' {
		head = head[:len(head)-1]
	}
	return append([]byte(head), object[1:]...)
}

// TypeMeta reads apiVersion and kind of an object in JSON, at any position.
func TypeMeta(object []byte) (apiVersion, kind []byte) {
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

// Fresh returns a KindChecker for the same resource, without the kinds that earlier responses
// determined.
func (k *KindChecker) Fresh() *KindChecker {
	return NewKindChecker(k.Kinds)
}

func loadText(at *atomic.Pointer[string]) string {
	if was := at.Load(); was != nil {
		return *was
	}
	return ""
}
