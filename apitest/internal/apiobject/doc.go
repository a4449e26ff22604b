// Package apiobject has the operations on API objects that every room of package apitest needs: the
// interface [Object], the key, the spec and the status of an object, and its JSON.
//
// A function may keep or return parts of its arguments. No function keeps state.
package apiobject
