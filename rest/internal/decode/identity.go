package decode

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/rest/internal/wire"
)

// identity is the name, namespace, UID and version of an object, as parts of its encoding.
type identity struct {
	namespace, name, uid, version []byte

	apiVersion, kind []byte // in JSON, if they come before the metadata, as servers write them
}

// copyKey returns key and version as strings that do not refer to the encoding. One allocation
// holds all three strings, because most keys are only looked up.
func (i *identity) copyKey() (key types.NamespacedName, version string) {
	piece := string(i.namespace) + string(i.name) + string(i.version)
	namespace, name := len(i.namespace), len(i.namespace)+len(i.name)
	return types.NamespacedName{Namespace: piece[:namespace], Name: piece[namespace:name]}, piece[name:]
}

// keyOf returns key and version. If the decoded object has equal strings, keyOf returns these, so
// that they are in memory only once. The strings are equal unless the methods of T change them. A
// store keeps the strings of an object's first version.
func (i *identity) keyOf(object any) (key types.NamespacedName, version string) {
	o, ok := object.(metav1.Object)
	if !ok {
		return i.copyKey()
	}
	return types.NamespacedName{
		Namespace: reuseString(i.namespace, o.GetNamespace()),
		Name:      reuseString(i.name, o.GetName()),
	}, reuseString(i.version, o.GetResourceVersion())
}

func reuseString(b []byte, s string) string {
	if string(b) == s {
		return s
	}
	return string(b)
}

// identify reads the identity of an encoded object, as far as it is readable. partial says that the
// end of the object is missing.
func identify(e wire.Encoding, object []byte, partial bool) identity {
	if e == wire.Protobuf {
		return identifyProtobuf(object, partial)
	}
	return identifyJSON(object)
}

// identifyProtobuf reads metadata=1{name=1 namespace=3 uid=5 resourceVersion=6}.
func identifyProtobuf(object []byte, partial bool) identity {
	var id identity
	// The bytes after the metadata may be broken; the object still has a name.
	metadata, _, err := wire.BytesField(object, 1, true)
	for err == nil && len(metadata) > 0 {
		var h wire.Header
		var value []byte
		if h, value, metadata, err = wire.NextField(metadata, partial); err != nil || h.Type != wire.TypeBytes {
			continue
		}
		switch h.Field {
		case 1:
			id.name = value
		case 3:
			id.namespace = value
		case 5:
			id.uid = value
		case 6:
			id.version = value
		}
	}
	return id
}

func identifyJSON(object []byte) identity {
	var id identity
	for key, value := range wire.JSONFields(object) {
		switch string(key) {
		case "apiVersion":
			id.apiVersion = wire.JSONText(value)
		case "kind":
			id.kind = wire.JSONText(value)
		}
		if string(key) != "metadata" {
			continue
		}
		for key, value := range wire.JSONFields(value) {
			switch string(key) {
			case "name":
				id.name = wire.JSONText(value)
			case "namespace":
				id.namespace = wire.JSONText(value)
			case "uid":
				id.uid = wire.JSONText(value)
			case "resourceVersion":
				id.version = wire.JSONText(value)
			}
			if id.name != nil && id.namespace != nil && id.uid != nil && id.version != nil {
				break
			}
		}
		break // Most of the object follows, without identity.
	}
	return id
}
