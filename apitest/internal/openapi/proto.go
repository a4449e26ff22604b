package openapi

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// protoOpenAPI encodes a document of OpenAPI v2 in the protobuf format that clients request. Of
// gnostic's OpenAPIv2.proto, it supports only the messages that this server's documents use.
func protoOpenAPI(doc apiobject.Document) []byte {
	var b protoWriter
	b.text(1, doc["swagger"])
	b.message(2, func(b *protoWriter) {
		info := doc["info"].(apiobject.Document)
		b.text(1, info["title"])
		b.text(2, info["version"])
	})
	b.message(8, func(b *protoWriter) {
		b.named(2, doc["paths"].(apiobject.Document), protoPath)
	})
	b.message(9, func(b *protoWriter) {
		b.named(1, doc["definitions"].(apiobject.Document), protoSchema)
	})
	return b
}

// protoWriter is a message in protobuf.
type protoWriter []byte

// text writes a string field, unless the string is empty.
func (b *protoWriter) text(field int, v any) {
	if s, _ := v.(string); s != "" {
		*b = append(binary.AppendUvarint(binary.AppendUvarint(*b, uint64(field)<<3|2), uint64(len(s))), s...)
	}
}

// message writes a nested message.
func (b *protoWriter) message(field int, write func(*protoWriter)) {
	var inner protoWriter
	write(&inner)
	*b = append(binary.AppendUvarint(binary.AppendUvarint(*b, uint64(field)<<3|2), uint64(len(inner))), inner...)
}

// named writes a message for each entry, with its name and value. The messages are sorted by name.
func (b *protoWriter) named(field int, entries apiobject.Document, write func(*protoWriter, apiobject.Document)) {
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		value, ok := entries[name].(apiobject.Document)
		if !ok {
			continue
		}
		b.message(field, func(b *protoWriter) {
			b.text(1, name)
			b.message(2, func(b *protoWriter) { write(b, value) })
		})
	}
}

// extensions writes the entries that begin with x-, as YAML. JSON is valid YAML.
func (b *protoWriter) extensions(field int, of apiobject.Document) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if !strings.HasPrefix(name, "x-") {
			continue
		}
		text := apiobject.MustJSON(of[name])
		b.message(field, func(b *protoWriter) {
			b.text(1, name)
			b.message(2, func(b *protoWriter) { b.text(2, string(text)) })
		})
	}
}

func protoPath(b *protoWriter, path apiobject.Document) {
	for method, field := range map[string]int{"get": 2, "put": 3, "post": 4, "patch": 8} {
		operation, ok := path[method].(apiobject.Document)
		if !ok {
			continue
		}
		b.message(field, func(b *protoWriter) {
			parameters, _ := operation["parameters"].([]any)
			for _, p := range parameters {
				parameter := p.(apiobject.Document)
				b.message(8, func(b *protoWriter) { // item
					b.message(1, func(b *protoWriter) { // parameter
						b.message(2, func(b *protoWriter) { // without a body
							b.message(3, func(b *protoWriter) { // in the query
								b.text(2, parameter["in"])
								b.text(4, parameter["name"])
								b.text(6, parameter["type"])
							})
						})
					})
				})
			}
			b.message(9, func(b *protoWriter) {
				b.named(1, operation["responses"].(apiobject.Document), func(b *protoWriter, response apiobject.Document) {
					b.message(1, func(b *protoWriter) { b.text(1, response["description"]) })
				})
			})
			b.extensions(13, operation)
		})
	}
}

func protoSchema(b *protoWriter, schema apiobject.Document) {
	b.text(1, schema["$ref"])
	b.text(2, schema["format"])
	b.text(4, schema["description"])
	required, _ := schema["required"].([]any)
	for _, name := range required {
		b.text(19, name)
	}
	if additional, ok := schema["additionalProperties"].(apiobject.Document); ok {
		b.message(21, func(b *protoWriter) {
			b.message(1, func(b *protoWriter) { protoSchema(b, additional) })
		})
	}
	if schema["type"] != nil {
		b.message(22, func(b *protoWriter) { b.text(1, schema["type"]) })
	}
	if items, ok := schema["items"].(apiobject.Document); ok {
		b.message(23, func(b *protoWriter) {
			b.message(1, func(b *protoWriter) { protoSchema(b, items) })
		})
	}
	if properties, ok := schema["properties"].(apiobject.Document); ok {
		b.message(25, func(b *protoWriter) { b.named(1, properties, protoSchema) })
	}
	b.extensions(31, schema)
}
