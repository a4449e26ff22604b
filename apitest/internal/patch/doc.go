// Package patch applies JSON patches, merge patches and strategic merge patches to objects in JSON.
// It is for the API server of package apitest. A server-side apply is not a patch: see package
// managedfields.
//
// [Parse] checks the media type and the form of a patch. The function that it returns can be called
// again, for a newer state of the object, and changes neither the patch nor the object.
package patch
