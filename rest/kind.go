package rest

import (
	"reflect"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/rest/internal/wire"
)

// kinds says of which kind the objects of a Resource are, and compares what comes with
// it: where the bytes of one kind fit another type, as those of a ConfigMap fit a
// Secret, nothing else would tell. What an answer does not say is not missed, for the
// items of a typed list have no kind of their own.
//
// Where the kind is not known beforehand, the first that comes is that of all later
// ones; lists may be of another kind than that of their items with List behind it, as
// the author of a custom resource chooses both. When the server says that there is no
// such resource, the Resource gets kinds that have learnt nothing: another one may be made
// with its name. Streams keep those that they began with, for they still have the old one.
type kinds struct {
	apiVersion string // what was asked for; "" where it may be any
	kind       string // "" where the first answer tells
	builtin    bool   // lists are of kind, with List behind it
	partial    bool   // T is *metav1.PartialObjectMetadata

	seen, seenList atomic.Pointer[string] // kinds, where kind is ""
}

// The kinds that answer instead of others.
const (
	partialKind = "PartialObjectMetadata"
	metaGroup   = "meta.k8s.io/" // of that
)

// kindsOf finds out what kind the objects of a resource are: what the user says, or
// that of a built-in type, or of a built-in resource.
func kindsOf(gvr schema.GroupVersionResource, given string, t reflect.Type, partial bool) *kinds {
	k := &kinds{apiVersion: gvr.GroupVersion().String(), kind: given, partial: partial}
	if k.kind == "" && t.Kind() == reflect.Pointer {
		if of, _, ok := builtinType(t.Elem()); ok && of.Group == gvr.Group {
			k.kind, k.builtin = t.Elem().Name(), true
		}
	}
	if k.kind == "" {
		k.kind = builtinKind(gvr.GroupResource())
		k.builtin = k.kind != ""
	}
	return k
}

// checkObject compares what an object says about itself.
func (k *kinds) checkObject(apiVersion, kind []byte) error {
	switch {
	case k == nil || len(kind) == 0:
		return nil
	case k.kind != "" && string(kind) == k.kind && string(apiVersion) == k.apiVersion:
		return nil // which is nearly always so
	case k.partial && string(kind) == partialKind && isMeta(apiVersion):
		return nil
	case k.apiVersion != "" && len(apiVersion) > 0 && string(apiVersion) != k.apiVersion, isNoObject(apiVersion, kind):
		return k.unexpected(apiVersion, kind, orDefault(k.kind, seen(&k.seen)))
	case k.kind != "":
		if string(kind) != k.kind {
			return k.unexpected(apiVersion, kind, k.kind)
		}
	case !first(&k.seen, kind):
		return k.unexpected(apiVersion, kind, seen(&k.seen))
	}
	return nil
}

// checkList compares what a list says about itself, of which the apiVersion may be
// missing. A List of v1, as some servers of extensions answer with, has items that say
// themselves what they are.
func (k *kinds) checkList(apiVersion, kind string) error {
	if !strings.HasSuffix(kind, "List") {
		return wire.Malformed("a list is expected, the answer is of kind %q", wire.Excerpt([]byte(kind), maxShownBytes))
	}
	if k == nil {
		return nil
	}
	want := seen(&k.seenList)
	if k.builtin {
		want = k.kind + "List"
	}
	switch {
	case kind == "List" && (apiVersion == "" || apiVersion == "v1"):
		return nil
	case k.partial && kind == partialKind+"List" && (apiVersion == "" || isMeta([]byte(apiVersion))):
		return nil
	case k.apiVersion != "" && apiVersion != "" && apiVersion != k.apiVersion, isNoObject([]byte(apiVersion), []byte(kind)):
		return k.unexpected([]byte(apiVersion), []byte(kind), want)
	case k.builtin && kind != want, !k.builtin && !first(&k.seenList, []byte(kind)):
		return k.unexpected([]byte(apiVersion), []byte(kind), orDefault(want, seen(&k.seenList)))
	}
	return nil
}

// unexpected is the error for anything of another kind.
func (k *kinds) unexpected(apiVersion, kind []byte, want string) error {
	if want == "" {
		want = "an object"
	}
	version := orDefault(k.apiVersion, "any version")
	if k.partial {
		version += ", or metadata alone,"
	}
	return wire.Malformed("%s of %s is expected, the answer has the kind %q of %q: the resource may be of another type than the one that it is read as, or what answers at this address is something else",
		want, version, wire.Excerpt(kind, maxShownBytes), wire.Excerpt(apiVersion, maxShownBytes))
}

// maxShownBytes bounds what an error shows of a name that a server chose.
const maxShownBytes = 128

// isNoObject says whether something is what a server may answer with in place of any
// object.
func isNoObject(apiVersion, kind []byte) bool {
	switch string(kind) {
	case "Status", "List", "APIResourceList", "APIGroupList", "APIGroup", "APIVersions", "WatchEvent":
		return len(apiVersion) == 0 || string(apiVersion) == "v1" || isMeta(apiVersion)
	case "Table", partialKind, partialKind + "List":
		return len(apiVersion) == 0 || isMeta(apiVersion)
	}
	return false
}

func isMeta(apiVersion []byte) bool {
	return len(apiVersion) > len(metaGroup) && string(apiVersion[:len(metaGroup)]) == metaGroup
}

// kindIn reads what an object in JSON says that it is, wherever that stands.
func kindIn(object []byte) (apiVersion, kind []byte) {
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

// first makes kind the one that is to be seen from now on, if it is the first, and says
// whether it is the one that was.
func first(at *atomic.Pointer[string], kind []byte) bool {
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

// unlearnt returns kinds for which the next one that comes is the first.
func (k *kinds) unlearnt() *kinds {
	return &kinds{apiVersion: k.apiVersion, kind: k.kind, builtin: k.builtin, partial: k.partial}
}

func seen(at *atomic.Pointer[string]) string {
	if was := at.Load(); was != nil {
		return *was
	}
	return ""
}

// builtinKind is the kind of a built-in resource, or "".
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
