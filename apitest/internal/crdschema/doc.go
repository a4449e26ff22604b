// Package crdschema checks custom resources by the structural schema of their
// CustomResourceDefinition. It is for the API server of package apitest.
//
// [Parse] makes a [Schema] of the JSON in the definition. Schema.Normalize removes the fields that
// the schema does not have, and sets defaults. Schema.CheckObject and Schema.CheckUpdate return the
// violations, in the real server's texts.
//
// # Guarantees
//
//   - A nil Schema allows every object, and Normalize then removes only unknown metadata.
//   - A Schema is safe for concurrent use. Only Normalize changes its object.
//
// # Limits
//
// CEL rules (x-kubernetes-validations) are ignored, and so are formats other than the most common.
package crdschema
