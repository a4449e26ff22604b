package storage

import (
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/managedfields"
)

// MergeType returns the type that says how objects of the resource are merged.
func (r *Resource) MergeType() managedfields.Type {
	if r.GoType != nil {
		return managedfields.OfGoType(r.GoType)
	}
	r.schemaMergeOnce.Do(func() { r.schemaMergeType = managedfields.OfSchema(r.CRDVersion.Schema.OpenAPIV3Schema) })
	return r.schemaMergeType
}

// Document returns an object as decoded JSON, with kind and apiVersion.
func (r *Resource) Document(obj apiobject.Object) apiobject.Document {
	var doc apiobject.Document
	if err := utiljson.Unmarshal(apiobject.MustJSON(obj), &doc); err != nil {
		panic("apitest: " + err.Error()) // cannot happen: it has just been encoded
	}
	doc["apiVersion"], doc["kind"] = r.GVK.ToAPIVersionAndKind()
	return doc
}
