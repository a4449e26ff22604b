// Package fielddocs describes the fields of Kubernetes' built-in types, for an API server that
// supports kubectl explain. Set the option FieldDocs of apitest to [Of].
//
// The descriptions are in a separate package because they have over a megabyte of text. Only
// programs that import this package link them.
//
// # Guarantees
//
//   - Of returns the descriptions of k8s.io/api. Equal calls return equal results.
//   - Of keeps no state, and is safe for concurrent use.
package fielddocs

import "reflect"

// Of returns the descriptions of a struct type: of each field by the field's JSON name, and of the
// type itself under "". The result is nil for a type without descriptions.
func Of(t reflect.Type) map[string]string {
	documented, ok := reflect.Zero(t).Interface().(interface{ SwaggerDoc() map[string]string })
	if !ok {
		return nil
	}
	return documented.SwaggerDoc()
}
