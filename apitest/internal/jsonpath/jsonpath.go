package jsonpath

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Path is the subset of JSONPath that CustomResourceDefinitions may use: .field, ['field'],
// [index], [*] and filters such as [?(@.type=="Ready")].
type Path []func(any) []any

// Parse parses a path such as .status.conditions[?(@.type=="Ready")].status.
func Parse(text string) (Path, error) {
	var path Path
	for rest := strings.TrimPrefix(text, "$"); rest != ""; {
		switch rest[0] {
		case '.':
			rest = rest[1:]
			name := fieldName(rest)
			rest = rest[len(name):]
			name = strings.ReplaceAll(name, `\.`, ".")
			if name == "" && !strings.HasPrefix(rest, "[") && rest != "" {
				return nil, fmt.Errorf("the JSON path %q is not understood at %q", text, rest)
			}
			if name != "" {
				path = append(path, member(name))
			}
		case '[':
			end := closingBracket(rest)
			if end < 0 {
				return nil, fmt.Errorf("the JSON path %q has no ] for a [", text)
			}
			step, err := subscript(rest[1:end])
			if err != nil {
				return nil, fmt.Errorf("the JSON path %q: %w", text, err)
			}
			path, rest = append(path, step), rest[end+1:]
		default:
			return nil, fmt.Errorf("the JSON path %q must begin with a dot", text)
		}
	}
	return path, nil
}

// fieldName returns the field name at the start of a path.
func fieldName(path string) string {
	for i := 0; i < len(path); i++ {
		switch path[i] {
		case '\\':
			i++
		case '.', '[':
			return path[:i]
		}
	}
	return path
}

// closingBracket returns the position of the bracket that closes the first bracket of a path, or
// -1.
func closingBracket(path string) int {
	depth, quote := 0, byte(0)
	for i := range len(path) {
		switch c := path[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[':
			depth++
		case c == ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// subscript parses the text between brackets.
func subscript(text string) (func(any) []any, error) {
	text = strings.TrimSpace(text)
	if text == "*" {
		return elements, nil
	}
	if condition, ok := strings.CutPrefix(text, "?("); ok {
		condition, ok = strings.CutSuffix(condition, ")")
		if !ok {
			return nil, fmt.Errorf("the filter %q has no end", text)
		}
		return filter(condition)
	}
	if name, ok := unquoted(text); ok {
		return member(name), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("%q is neither a number, nor *, nor a filter, nor in quotes", text)
	}
	return func(v any) []any {
		list, _ := v.([]any)
		at := n
		if at < 0 {
			at += len(list)
		}
		if at < 0 || at >= len(list) {
			return nil
		}
		return []any{list[at]}
	}, nil
}

func unquoted(text string) (string, bool) {
	if len(text) >= 2 && (text[0] == '\'' || text[0] == '"') && text[len(text)-1] == text[0] {
		return text[1 : len(text)-1], true
	}
	return "", false
}

func member(name string) func(any) []any {
	return func(v any) []any {
		if fields, ok := v.(map[string]any); ok {
			if value, ok := fields[name]; ok {
				return []any{value}
			}
		}
		return nil
	}
}

func elements(v any) []any {
	list, _ := v.([]any)
	return list
}

// filter returns a function that selects the elements of a list that meet a condition. The
// condition is that a path @.path exists, or that its value equals or does not equal a literal.
func filter(condition string) (func(any) []any, error) {
	left, right, op := condition, "", ""
	for _, o := range []string{"==", "!="} {
		if l, r, ok := strings.Cut(condition, o); ok {
			left, right, op = l, strings.TrimSpace(r), o
			break
		}
	}
	path, ok := strings.CutPrefix(strings.TrimSpace(left), "@")
	if !ok {
		return nil, fmt.Errorf("the filter %q does not begin with @", condition)
	}
	of, err := Parse(path)
	if err != nil {
		return nil, err
	}
	want, quoted := unquoted(right)
	if !quoted {
		want = right
	}
	return func(v any) (picked []any) {
		for _, element := range elements(v) {
			found := of.Find(element)
			holds := len(found) > 0
			if op != "" && holds {
				holds = (Text(found[0]) == want) == (op == "==")
			}
			if holds {
				picked = append(picked, element)
			}
		}
		return picked
	}, nil
}

// Find returns the values at the path.
func (p Path) Find(v any) []any {
	found := []any{v}
	for _, step := range p {
		var next []any
		for _, f := range found {
			next = append(next, step(f)...)
		}
		found = next
	}
	return found
}

// Text returns a value as text. A string stays as it is, and any other value becomes JSON.
func Text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
