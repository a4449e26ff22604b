package apitest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// revision is one immutable version of a stored object. It stores the object as bytes, so that no
// caller can share memory with it. Bytes also cost Go's garbage collector little, even for a
// hundred thousand revisions. Lists and watches write the bytes without encoding them again.
type revision struct {
	res     *resource
	key     types.NamespacedName
	version uint64

	// The values that selectors match.
	labels labels.Set
	fields []string // values of the fields in res.fieldNames

	// origin is the stored revision that this revision shows in another version. origin is nil for
	// a stored revision.
	origin *revision

	// stored is the object in the encoding that etcd would have: protobuf for a built-in type, JSON
	// for a custom resource.
	stored []byte

	// Other encodings, each made when it is first needed.
	json      atomic.Pointer[[]byte]
	metaJSON  atomic.Pointer[[]byte]
	metaProto atomic.Pointer[[]byte]
}

// newRevision makes a revision of obj and sets the resourceVersion of obj. If version is 0, the
// resourceVersion is empty.
func newRevision(res *resource, obj Object, version uint64) (*revision, error) {
	obj.SetResourceVersion("")
	if version > 0 {
		obj.SetResourceVersion(strconv.FormatUint(version, 10))
	}
	rev := &revision{
		res:     res,
		key:     types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()},
		version: version,
		labels:  obj.GetLabels(),
	}
	if res.fieldValues != nil {
		rev.fields = res.fieldValues(obj)
	}
	stored, err := res.encode(obj)
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s: %w", res.Kind, rev.key, err)
	}
	rev.stored = stored
	return rev, nil
}

// encode returns obj in its stored encoding.
func (r *resource) encode(obj Object) ([]byte, error) {
	if r.protobuf() {
		return obj.(apiobject.Message).Marshal()
	}
	return json.Marshal(obj.(*unstructured.Unstructured).Object)
}

// object returns a new copy of the object. An object of a built-in type has no kind and apiVersion.
func (r *revision) object() Object {
	obj := r.res.new()
	var err error
	if u, ok := obj.(*unstructured.Unstructured); ok {
		u.Object = nil
		err = utiljson.Unmarshal(r.stored, &u.Object)
	} else {
		err = obj.(apiobject.Message).Unmarshal(r.stored)
	}
	if err != nil {
		panic(fmt.Sprintf("apitest: reading back the stored %s %s: %v", r.res.Kind, r.key, err))
	}
	return obj
}

// convertedTo(res) returns the revision converted to the version of res. Between versions of a
// custom resource only apiVersion changes (conversion strategy None). An event is converted between
// its two APIs.
func (r *revision) convertedTo(res *resource) *revision {
	if r == nil || r.res == res || r.res.gvk == res.gvk && slices.Equal(r.res.fieldNames, res.fieldNames) {
		return r
	}
	obj := r.object()
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		o.SetGroupVersionKind(res.gvk)
	case *corev1.Event:
		obj = toEventsV1(o)
	case *eventsv1.Event:
		obj = toCoreV1(o)
	}
	rev, err := newRevision(res, obj, r.version)
	if err != nil {
		panic("apitest: " + err.Error()) // cannot fail: it has been encoded before
	}
	rev.origin = r.storedRevision()
	return rev
}

// storedRevision returns the stored revision.
func (r *revision) storedRevision() *revision {
	if r == nil || r.origin == nil {
		return r
	}
	return r.origin
}

// withVersion(version) returns the same object with this resourceVersion.
func (r *revision) withVersion(version uint64) *revision {
	rev, err := newRevision(r.res, r.object(), version)
	if err != nil {
		panic("apitest: " + err.Error()) // cannot fail: it has been encoded before
	}
	return rev
}

// itemJSON returns the object as an item of a JSON list: without kind and apiVersion if its type is
// built in.
func (r *revision) itemJSON() []byte {
	if !r.res.protobuf() {
		return r.stored
	}
	return cached(&r.json, func() ([]byte, error) { return json.Marshal(r.object()) })
}

// metadataJSON returns the object as a PartialObjectMetadata in JSON, which has
// kind and apiVersion even as an item of a list.
func (r *revision) metadataJSON() []byte {
	return cached(&r.metaJSON, func() ([]byte, error) { return json.Marshal(r.metadata()) })
}

// metadataProto returns the object as a PartialObjectMetadata in protobuf.
func (r *revision) metadataProto() []byte {
	return cached(&r.metaProto, func() ([]byte, error) { return r.metadata().Marshal() })
}

func (r *revision) metadata() *metav1.PartialObjectMetadata {
	obj := r.object()
	partial := &metav1.PartialObjectMetadata{TypeMeta: metadataType}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		// This goes through JSON, because a copy field by field would lose unknown fields.
		if err := apiobject.Remarshal(u.Object["metadata"], &partial.ObjectMeta); err != nil {
			panic(fmt.Sprintf("apitest: metadata of the stored %s %s: %v", r.res.Kind, r.key, err))
		}
		return partial
	}
	obj.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta).DeepCopyInto(&partial.ObjectMeta)
	return partial
}

var metadataType = metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}

// resourceVersion returns the version as a string, as objects have it.
func (r *revision) resourceVersion() string { return strconv.FormatUint(r.version, 10) }

// cached returns the bytes in p, and fills p first if it is empty. If two goroutines call it at the
// same time, both may encode the object, and both get valid bytes.
func cached(p *atomic.Pointer[[]byte], make func() ([]byte, error)) []byte {
	if b := p.Load(); b != nil {
		return *b
	}
	b, err := make()
	if err != nil {
		panic("apitest: encoding a stored object: " + err.Error())
	}
	p.Store(&b)
	return b
}

// equals reports whether obj equals the object in r, apart from the resourceVersion.
func (r *revision) equals(obj Object) bool {
	obj.SetResourceVersion(strconv.FormatUint(r.version, 10))
	data, err := r.res.encode(obj)
	return err == nil && bytes.Equal(data, r.stored)
}

// undecodable returns a copy of this revision that cannot be decoded, although its bytes contain a
// decodable name and version. In JSON, its labels are a number. In protobuf, a field extends beyond
// the end of the object.
func (r *revision) undecodable() *revision {
	meta := metav1.ObjectMeta{Name: r.key.Name, Namespace: r.key.Namespace, ResourceVersion: strconv.FormatUint(r.version, 10)}
	raw, err := meta.Marshal()
	if err != nil {
		panic("apitest: " + err.Error())
	}
	proto := append(binary.AppendUvarint([]byte{0x0a}, uint64(len(raw))), raw...)
	proto = append(proto, 0x12, 0x7f)
	body := func(prefix string) []byte {
		return fmt.Appendf(nil, `{%s"metadata":{"name":%q,"namespace":%q,"resourceVersion":%q,"labels":7}}`,
			prefix, meta.Name, meta.Namespace, meta.ResourceVersion)
	}
	typed := func(apiVersion, kind string) []byte {
		return body(fmt.Sprintf(`"apiVersion":%q,"kind":%q,`, apiVersion, kind))
	}
	b := &revision{res: r.res, key: r.key, version: r.version}
	itemJSON, metaJSON := body(""), typed(metadataType.APIVersion, metadataType.Kind)
	b.stored = proto
	if !r.res.protobuf() {
		b.stored = typed(r.res.gvk.GroupVersion().String(), r.res.Kind)
	}
	b.json.Store(&itemJSON)
	b.metaJSON.Store(&metaJSON)
	b.metaProto.Store(&proto)
	return b
}
