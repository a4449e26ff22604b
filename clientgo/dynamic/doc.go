// Package dynamic has a client for objects of any type, as unstructured.Unstructured.
package dynamic
