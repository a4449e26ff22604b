// Package fielddocs describes the fields of Kubernetes' built-in types, for an API
// server that explains them: give [Of] to apitest as the option FieldDocs.
//
// It is a package of its own because the descriptions are over a megabyte of text,
// which is linked only by who imports it.
//
// # Guarantees
//
//   - What it returns is what k8s.io/api says of a type; the same call returns the same.
//   - It keeps nothing, and is safe for concurrent use.
package fielddocs

import "reflect"

// Of returns the description of each field of a struct type by its name in JSON, and
// that of the type itself under "". It is nil for types without descriptions.
func Of(t reflect.Type) map[string]string {
	documented, ok := reflect.Zero(t).Interface().(interface{ SwaggerDoc() map[string]string })
	if !ok {
		return nil
	}
	return documented.SwaggerDoc()
}
