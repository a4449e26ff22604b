package jsonpath

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	keyInBrackets   = regexp.MustCompile(`^'([^']*)'$`)
	sliceInBrackets = regexp.MustCompile(`^(-?\d*)(:-?\d*)?(:-?\d*)?$`)
)

// bracket parses the content of brackets: a filter, a key, numbers, or several of these.
func (r *reader) bracket(list *ListNode) error {
	r.at++
	if strings.HasPrefix(r.rest(), "?(") {
		r.at += len("?(")
		filter, err := r.filter()
		list.Nodes = append(list.Nodes, filter)
		return err
	}
	line, _, _ := strings.Cut(r.rest(), "\n")
	content, _, found := strings.Cut(line, "]")
	if !found {
		return errors.New("unterminated array")
	}
	r.at += len(content) + len("]")
	if key := keyInBrackets.FindStringSubmatch(content); key != nil {
		path, err := inner("." + key[1])
		if err != nil {
			return err
		}
		list.Nodes = append(list.Nodes, path.Nodes...)
		return nil
	}
	if strings.Contains(content, ",") {
		union := &UnionNode{NodeType: NodeUnion}
		for part := range strings.SplitSeq(content, ",") {
			path, err := inner("[" + strings.Trim(part, " ") + "]")
			if err != nil {
				return err
			}
			union.Nodes = append(union.Nodes, path)
		}
		list.Nodes = append(list.Nodes, union)
		return nil
	}
	params, err := slice(content)
	list.Nodes = append(list.Nodes, &ArrayNode{NodeArray, params})
	return err
}

// inner parses a whole text as a list. A filter or bracket ends at the first closing character, so
// filters and brackets nest at most two levels deep.
func inner(text string) (*ListNode, error) {
	within := reader{text: text}
	return within.list()
}

// slice parses either first:end:step, of which each number may be missing, or a single number.
func slice(text string) (params [3]ParamsEntry, err error) {
	if text == "*" {
		return params, nil
	}
	parts := sliceInBrackets.FindStringSubmatch(text)
	if parts == nil {
		return params, fmt.Errorf("invalid array index %s", text)
	}
	for i, part := range parts[1:] {
		if part = strings.TrimPrefix(part, ":"); part == "" {
			continue
		}
		if params[i].Value, err = strconv.Atoi(part); err != nil {
			return params, fmt.Errorf("array index %s is not a number", part)
		}
		params[i].Known = true
	}
	if parts[2] == "" {
		params[1] = ParamsEntry{Value: params[0].Value + 1, Known: true, Derived: true}
	}
	return params, nil
}

// filter parses a filter, after its opening parenthesis.
func (r *reader) filter() (Node, error) {
	begin := r.at
	for {
		c, size := r.peek()
		switch c {
		case endOfText:
			return nil, errors.New("unterminated filter")
		case '"', '\'':
			if !r.skipQuoted() {
				return nil, errors.New("unterminated filter")
			}
			continue
		}
		r.at += size
		if c == ')' {
			break
		}
	}
	condition := r.text[begin : r.at-1]
	if !strings.HasPrefix(r.rest(), "]") {
		return nil, errors.New("unclosed array expect ]")
	}
	r.at++
	left, operator, right := split(condition)
	filter := &FilterNode{NodeType: NodeFilter, Operator: operator}
	var err error
	if filter.Left, err = inner(left); err == nil {
		filter.Right, err = inner(right)
	}
	return filter, err
}

// split returns the two sides of a condition and its operator. The operator is "exists" if there is
// only one side.
func split(condition string) (left, operator, right string) {
	const operators = "!<>="
	r := reader{text: condition}
	for c, size := r.peek(); c != endOfText; c, size = r.peek() {
		switch {
		case c == '"' || c == '\'':
			r.skipQuoted()
			continue
		case !strings.ContainsRune(operators, c):
			r.at += size
			continue
		}
		right = strings.TrimLeft(r.rest(), operators)
		// The text ends with the operator. Its last character becomes the right side, which is then
		// an error, because no expression begins with this character.
		if right == "" {
			right = condition[len(condition)-1:]
		}
		left, operator = condition[:r.at], condition[r.at:len(condition)-len(right)]
		if left == "" || operator == "" {
			break
		}
		return left, operator, right
	}
	return condition, "exists", ""
}
