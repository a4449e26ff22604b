package internal

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// schemaText has the rules by which a server merges each type. A type begins with a line that has
// its OpenAPI name, followed by "atomic" if the type is replaced as a whole. The lines of its
// fields begin with a tab. Each of them has the field's JSON name, and then one of:
//
//	string, boolean, numeric     a scalar
//	any                          anything, replaced as a whole
//	@NAME, @NAME atomic          a type
//	[]ELEM                       a list that is replaced as a whole
//	[set]ELEM                    a list of values
//	[KEY,KEY]ELEM                a list of items that these fields identify
//	{}ELEM, {atomic}ELEM         a map
//
//go:embed schema.txt
var schemaText string

// untyped is the name of the type of arbitrary values.
const untyped = "__untyped_atomic_"

var parser struct {
	once sync.Once
	made *typed.Parser
}

// Parser returns the merge rules of the types of k8s.io/api. The first call parses the rules. (With
// a variable instead of a function, the linker would keep the text of all types in each program
// with a typed client.)
func Parser() *typed.Parser {
	parser.once.Do(func() {
		p := &typed.Parser{}
		p.Schema.Types = append(parseTypes(schemaText), schema.TypeDef{Name: untyped, Atom: anyTypeAtom()})
		parser.made = p
	})
	return parser.made
}

func anyTypeAtom() schema.Atom {
	scalar := schema.Untyped
	of := schema.TypeRef{NamedType: new(untyped)}
	return schema.Atom{
		Scalar: &scalar,
		List:   &schema.List{ElementType: of, ElementRelationship: schema.Atomic},
		Map:    &schema.Map{ElementType: of, ElementRelationship: schema.Atomic},
	}
}

func parseTypes(text string) (all []schema.TypeDef) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		field, isField := strings.CutPrefix(line, "\t")
		if !isField {
			name, atomic, _ := strings.Cut(line, " ")
			fields := &schema.Map{}
			if atomic != "" {
				fields.ElementRelationship = schema.Atomic
			}
			all = append(all, schema.TypeDef{Name: name, Atom: schema.Atom{Map: fields}})
			continue
		}
		name, shape, _ := strings.Cut(field, " ")
		fields := all[len(all)-1].Map
		fields.Fields = append(fields.Fields, schema.StructField{Name: name, Type: parseTypeRef(shape)})
	}
	return all
}

// parseTypeRef parses the shape of a field. It panics on an error, because the text is generated
// and only a defect of the generator can cause one.
func parseTypeRef(shape string) schema.TypeRef {
	if name, ok := strings.CutPrefix(shape, "@"); ok {
		name, atomic, _ := strings.Cut(name, " ")
		ref := schema.TypeRef{NamedType: &name}
		if atomic != "" {
			ref.ElementRelationship = new(schema.Atomic)
		}
		return ref
	}
	if how, elem, ok := parseBrackets(shape, '[', ']'); ok {
		list := &schema.List{ElementType: parseTypeRef(elem), ElementRelationship: schema.Associative}
		switch how {
		case "":
			list.ElementRelationship = schema.Atomic
		case "set":
		default:
			list.Keys = strings.Split(how, ",")
		}
		return schema.TypeRef{Inlined: schema.Atom{List: list}}
	}
	if how, elem, ok := parseBrackets(shape, '{', '}'); ok {
		table := &schema.Map{ElementType: parseTypeRef(elem)}
		if how != "" {
			table.ElementRelationship = schema.Atomic
		}
		return schema.TypeRef{Inlined: schema.Atom{Map: table}}
	}
	if shape == "any" {
		return schema.TypeRef{NamedType: new(untyped)}
	}
	scalar := schema.Scalar(shape)
	if scalar != schema.String && scalar != schema.Boolean && scalar != schema.Numeric {
		panic(fmt.Sprintf("schema.txt has %q, which is no type", shape))
	}
	return schema.TypeRef{Inlined: schema.Atom{Scalar: &scalar}}
}

// parseBrackets splits a text of the form "[how]elem" into how and elem. The brackets are open and
// shut.
func parseBrackets(shape string, open, shut byte) (how, elem string, ok bool) {
	if shape[0] != open {
		return "", "", false
	}
	return strings.Cut(shape[1:], string(shut))
}
