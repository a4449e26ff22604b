package storage

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

// Revision is one immutable version of a stored object. It stores the object as bytes, so that no
// caller can share memory with it. Bytes also cost Go's garbage collector little, even for a
// hundred thousand revisions. Lists and watches write the bytes without encoding them again.
type Revision struct {
	Res     *Resource
	Key     types.NamespacedName
	Version uint64

	// The values that selectors match.
	Labels labels.Set
	fields []string // values of the fields in Res.FieldNames

	// origin is the stored revision that this revision shows in another version. origin is nil for
	// a stored revision.
	origin *Revision

	// Stored is the object in the encoding that etcd would have: protobuf for a built-in type, JSON
	// for a custom resource.
	Stored []byte

	// Other encodings, each made when it is first needed.
	json      atomic.Pointer[[]byte]
	metaJSON  atomic.Pointer[[]byte]
	metaProto atomic.Pointer[[]byte]
}

// NewRevision makes a revision of obj and sets the resourceVersion of obj. If version is 0, the
// resourceVersion is empty.
func NewRevision(res *Resource, obj apiobject.Object, version uint64) (*Revision, error) {
	obj.SetResourceVersion("")
	if version > 0 {
		obj.SetResourceVersion(strconv.FormatUint(version, 10))
	}
	rev := &Revision{
		Res:     res,
		Key:     types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()},
		Version: version,
		Labels:  obj.GetLabels(),
	}
	if res.FieldValues != nil {
		rev.fields = res.FieldValues(obj)
	}
	stored, err := res.encode(obj)
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s: %w", res.Kind, rev.Key, err)
	}
	rev.Stored = stored
	return rev, nil
}

// encode returns obj in its stored encoding.
func (r *Resource) encode(obj apiobject.Object) ([]byte, error) {
	if r.Protobuf() {
		return obj.(apiobject.Message).Marshal()
	}
	return json.Marshal(obj.(*unstructured.Unstructured).Object)
}

// Object returns a new copy of the object. An object of a built-in type has no kind and apiVersion.
func (r *Revision) Object() apiobject.Object {
	obj := r.Res.New()
	var err error
	if u, ok := obj.(*unstructured.Unstructured); ok {
		u.Object = nil
		err = utiljson.Unmarshal(r.Stored, &u.Object)
	} else {
		err = obj.(apiobject.Message).Unmarshal(r.Stored)
	}
	if err != nil {
		panic(fmt.Sprintf("apitest: reading back the stored %s %s: %v", r.Res.Kind, r.Key, err))
	}
	return obj
}

// ConvertedTo returns the revision converted to the version of res. Between versions of a
// custom resource only apiVersion changes (conversion strategy None). An event is converted between
// its two APIs.
func (r *Revision) ConvertedTo(res *Resource) *Revision {
	if r == nil || r.Res == res || r.Res.GVK == res.GVK && slices.Equal(r.Res.FieldNames, res.FieldNames) {
		return r
	}
	obj := r.Object()
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		o.SetGroupVersionKind(res.GVK)
	case *corev1.Event:
		obj = toEventsV1(o)
	case *eventsv1.Event:
		obj = toCoreV1(o)
	}
	rev, err := NewRevision(res, obj, r.Version)
	if err != nil {
		panic("apitest: " + err.Error()) // cannot fail: it has been encoded before
	}
	rev.origin = r.storedRevision()
	return rev
}

// storedRevision returns the stored revision.
func (r *Revision) storedRevision() *Revision {
	if r == nil || r.origin == nil {
		return r
	}
	return r.origin
}

// withVersion(version) returns the same object with this resourceVersion.
func (r *Revision) withVersion(version uint64) *Revision {
	rev, err := NewRevision(r.Res, r.Object(), version)
	if err != nil {
		panic("apitest: " + err.Error()) // cannot fail: it has been encoded before
	}
	return rev
}

// ItemJSON returns the object as an item of a JSON list: without kind and apiVersion if its type is
// built in.
func (r *Revision) ItemJSON() []byte {
	if !r.Res.Protobuf() {
		return r.Stored
	}
	return cached(&r.json, func() ([]byte, error) { return json.Marshal(r.Object()) })
}

// MetadataJSON returns the object as a PartialObjectMetadata in JSON, which has
// kind and apiVersion even as an item of a list.
func (r *Revision) MetadataJSON() []byte {
	return cached(&r.metaJSON, func() ([]byte, error) { return json.Marshal(r.Metadata()) })
}

// MetadataProto returns the object as a PartialObjectMetadata in protobuf.
func (r *Revision) MetadataProto() []byte {
	return cached(&r.metaProto, func() ([]byte, error) { return r.Metadata().Marshal() })
}

// Metadata returns the object as a PartialObjectMetadata.
func (r *Revision) Metadata() *metav1.PartialObjectMetadata {
	obj := r.Object()
	partial := &metav1.PartialObjectMetadata{TypeMeta: MetadataType}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		// This goes through JSON, because a copy field by field would lose unknown fields.
		if err := apiobject.Remarshal(u.Object["metadata"], &partial.ObjectMeta); err != nil {
			panic(fmt.Sprintf("apitest: metadata of the stored %s %s: %v", r.Res.Kind, r.Key, err))
		}
		return partial
	}
	obj.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta).DeepCopyInto(&partial.ObjectMeta)
	return partial
}

// MetadataType is the type of a PartialObjectMetadata.
var MetadataType = metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}

// ResourceVersion returns the version as a string, as objects have it.
func (r *Revision) ResourceVersion() string { return strconv.FormatUint(r.Version, 10) }

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

// Equals reports whether obj equals the object in r, apart from the resourceVersion.
func (r *Revision) Equals(obj apiobject.Object) bool {
	obj.SetResourceVersion(strconv.FormatUint(r.Version, 10))
	data, err := r.Res.encode(obj)
	return err == nil && bytes.Equal(data, r.Stored)
}

// Undecodable returns a copy of this revision that cannot be decoded, although its bytes contain a
// decodable name and version. In JSON, its labels are a number. In protobuf, a field extends beyond
// the end of the object.
func (r *Revision) Undecodable() *Revision {
	meta := metav1.ObjectMeta{Name: r.Key.Name, Namespace: r.Key.Namespace, ResourceVersion: strconv.FormatUint(r.Version, 10)}
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
	b := &Revision{Res: r.Res, Key: r.Key, Version: r.Version}
	itemJSON, metaJSON := body(""), typed(MetadataType.APIVersion, MetadataType.Kind)
	b.Stored = proto
	if !r.Res.Protobuf() {
		b.Stored = typed(r.Res.GVK.GroupVersion().String(), r.Res.Kind)
	}
	b.json.Store(&itemJSON)
	b.metaJSON.Store(&metaJSON)
	b.metaProto.Store(&proto)
	return b
}
