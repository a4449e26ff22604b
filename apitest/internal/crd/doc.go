// Package crd has the parts of a CustomResourceDefinition that the API server of package apitest
// uses. [Parse] decodes and checks a definition, and sets its defaults. The status of a definition
// whose resources are served comes from Definition.EstablishedStatus. [ScalePaths] reads and writes
// the fields of the scale subresource.
//
// Parse changes its object only by setting defaults, and no function keeps state.
package crd
