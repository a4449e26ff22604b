package apiobject

// Document is a JSON document, or an object inside a JSON document.
type Document = map[string]any
