// Package restmapper finds resources and kinds by each other, in what an API server says it has.
//
// It differs from client-go's package in three ways. A DeferredDiscoveryRESTMapper asks the server without a lock held, and asks once
// more for something that is missing, also if its cache never becomes fresh. A resource is once in a category, not once for each
// version. A mapper that takes contexts ends with them.
package restmapper
