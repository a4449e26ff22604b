// Package fielddocs describes the fields of Kubernetes' built-in types, for an API server that
// answers kubectl explain. Set the option FieldDocs of apitest to [Of].
//
// The descriptions have a package of their own because they are over a megabyte of text. Only
// programs that import this package link them.
//
// # Guarantees
//
//   - Of returns the descriptions of k8s.io/api; the same call returns the same result.
//   - Of keeps no state, and is safe for concurrent use.
package fielddocs

import "reflect"

// Of returns the description of each field of a struct type by its name in JSON, and the
// description of the type itself under "". It is nil for types without descriptions.
func Of(t reflect.Type) map[string]string {
	documented, ok := reflect.Zero(t).Interface().(interface{ SwaggerDoc() map[string]string })
	if !ok {
		return nil
	}
	return documented.SwaggerDoc()
}
