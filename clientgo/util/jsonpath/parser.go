package jsonpath

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parser parses an expression.
type Parser struct {
	Name string
	// Root is the last parsed expression: text, and a list for each part in braces.
	Root *ListNode
}

// NewParser returns a parser. The name describes the expression to people.
func NewParser(name string) *Parser { return &Parser{Name: name} }

// Parse parses an expression. On an error it returns no parser.
func Parse(name, text string) (*Parser, error) {
	p := NewParser(name)
	if err := p.Parse(text); err != nil {
		return nil, err
	}
	return p, nil
}

// Parse parses an expression and replaces Root. On an error Root is unchanged.
func (p *Parser) Parse(text string) error {
	root := &ListNode{NodeType: NodeList}
	for text != "" {
		before, action, found := strings.Cut(text, "{")
		if before != "" {
			root.Nodes = append(root.Nodes, &TextNode{NodeText, before})
		}
		if !found {
			break
		}
		r := reader{text: action, end: '}'}
		list, err := r.list()
		if err != nil {
			return err
		}
		root.Nodes = append(root.Nodes, list)
		text = action[r.at:]
	}
	p.Root = root
	return nil
}

// reader parses a list of nodes.
type reader struct {
	text string
	at   int  // the index of the next byte
	end  rune // the character that ends the list, or 0 if the end of the text ends it
}

// endOfText is the result of peek at the end of the text or of a line. No expression continues
// after the end of a line.
const endOfText = -1

// peek returns the next character.
func (r *reader) peek() (c rune, size int) {
	if r.at >= len(r.text) || r.text[r.at] == '\n' {
		return endOfText, 0
	}
	return utf8.DecodeRuneInString(r.text[r.at:])
}

// rest returns the remaining text.
func (r *reader) rest() string { return r.text[r.at:] }

// list parses nodes up to and including the character that ends the list.
func (r *reader) list() (*ListNode, error) {
	list := &ListNode{NodeType: NodeList}
	add := func(n Node, err error) error {
		list.Nodes = append(list.Nodes, n)
		return err
	}
	for {
		c, size := r.peek()
		var err error
		switch {
		case c == endOfText && r.end == 0 && r.rest() == "":
			return list, nil
		case c == endOfText:
			return nil, errors.New("unclosed action")
		case c == r.end:
			r.at += size
			return list, nil
		case c == ' ' || c == '@' || c == '$':
			r.at += size // skip a redundant character: the path is the same without it
		case c == '[':
			err = r.bracket(list)
		case c == '"' || c == '\'':
			err = add(r.quoted())
		case c == '.':
			err = r.path(list)
		case c == '+' || c == '-' || unicode.IsDigit(c):
			err = add(r.number())
		case isWord(c):
			err = add(r.word())
		default:
			err = fmt.Errorf("unrecognized character in action: %#U", c)
		}
		if err != nil {
			return nil, err
		}
	}
}

func isWord(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }

// path parses a field, a wildcard, or the two dots of a recursion.
func (r *reader) path(list *ListNode) error {
	r.at++
	if strings.HasPrefix(r.rest(), ".") {
		r.at++
		if n := len(list.Nodes); n > 0 && list.Nodes[n-1].Type() == NodeRecursive {
			return errors.New("invalid multiple recursive descent")
		}
		list.Nodes = append(list.Nodes, &RecursiveNode{NodeRecursive})
		if c, _ := r.peek(); !isWord(c) {
			return nil
		}
	}
	begin := r.at
	name, err := r.name()
	switch {
	case err != nil:
		return err
	case r.text[begin:r.at] == "*":
		list.Nodes = append(list.Nodes, &WildcardNode{NodeWildcard})
	default:
		list.Nodes = append(list.Nodes, &FieldNode{NodeField, name})
	}
	return nil
}

// name parses a name. A backslash escapes the next character.
func (r *reader) name() (string, error) {
	var name strings.Builder
	for {
		c, size := r.peek()
		if c == endOfText || strings.ContainsRune(" \t\r.,[]$@{}", c) {
			return name.String(), nil
		}
		if c == '\\' {
			r.at += size
			if c, size = r.peek(); c == endOfText {
				return "", errors.New("unclosed action")
			}
		}
		name.WriteString(r.text[r.at : r.at+size])
		r.at += size
	}
}

func (r *reader) word() (Node, error) {
	name, err := r.name()
	switch name {
	case "true", "false":
		return &BoolNode{NodeBool, name == "true"}, err
	default:
		return &IdentifierNode{NodeIdentifier, name}, err
	}
}

func (r *reader) number() (Node, error) {
	begin := r.at
	r.at++
	for c, size := r.peek(); c == '.' || unicode.IsDigit(c); c, size = r.peek() {
		r.at += size
	}
	text := r.text[begin:r.at]
	if n, err := strconv.Atoi(text); err == nil {
		return &IntNode{NodeInt, n}, nil
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return &FloatNode{NodeFloat, f}, nil
	}
	return nil, fmt.Errorf("cannot parse number %s", text)
}

// skipQuoted skips a string. The next character is the quote. It returns false if the string is
// unterminated.
func (r *reader) skipQuoted() bool {
	quote, _ := r.peek()
	r.at++
	for {
		c, size := r.peek()
		r.at += size
		switch c {
		case endOfText:
			return false
		case quote:
			return true
		case '\\':
			_, size = r.peek()
			r.at += size
		}
	}
}

func (r *reader) quoted() (Node, error) {
	begin := r.at
	if !r.skipQuoted() {
		return nil, errors.New("unterminated quoted string")
	}
	text, err := UnquoteExtend(r.text[begin:r.at])
	if err != nil {
		return nil, fmt.Errorf("unquote string %s error %w", r.text[begin:r.at], err)
	}
	return &TextNode{NodeText, text}, nil
}
