// Package discovery describes the served resources of the API server of package apitest: the lists
// of groups and resources, the aggregated document (KEP-3352), and the APIServices.
//
// A [Catalog] has the resources at one time. Its methods return documents, and change nothing.
package discovery
