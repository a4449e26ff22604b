package jsonpath

import "fmt"

// NodeType is the type of a node of an expression.
type NodeType int

// Type returns t. With this method, a node that embeds its NodeType implements Node.
func (t NodeType) Type() NodeType { return t }

// String returns the type's name, or "" for an unknown type.
func (t NodeType) String() string { return NodeTypeName[t] }

// The types of nodes.
const (
	NodeText NodeType = iota
	NodeArray
	NodeList
	NodeField
	NodeIdentifier
	NodeFilter
	NodeInt
	NodeFloat
	NodeWildcard
	NodeRecursive
	NodeUnion
	NodeBool
)

// NodeTypeName maps each type to its name.
var NodeTypeName = map[NodeType]string{
	NodeText: "NodeText", NodeArray: "NodeArray", NodeList: "NodeList", NodeField: "NodeField", NodeIdentifier: "NodeIdentifier", NodeFilter: "NodeFilter",
	NodeInt: "NodeInt", NodeFloat: "NodeFloat", NodeWildcard: "NodeWildcard", NodeRecursive: "NodeRecursive", NodeUnion: "NodeUnion", NodeBool: "NodeBool",
}

// Node is a part of an expression.
type Node interface {
	Type() NodeType
	// String returns a description of the node: the type's name and the node's content.
	String() string
}

// ListNode is a sequence of nodes. Each node is applied to the results of the node before it.
type ListNode struct {
	NodeType
	Nodes []Node
}

func (l *ListNode) String() string { return l.Type().String() }

// TextNode is literal text.
type TextNode struct {
	NodeType
	Text string
}

func (t *TextNode) String() string { return describe(t, t.Text) }

// FieldNode finds the value of a map key or struct field.
type FieldNode struct {
	NodeType
	Value string
}

func (f *FieldNode) String() string { return describe(f, f.Value) }

// IdentifierNode is the keyword "range" or "end".
type IdentifierNode struct {
	NodeType
	Name string
}

func (f *IdentifierNode) String() string { return describe(f, f.Name) }

// ParamsEntry is a number of an ArrayNode.
type ParamsEntry struct {
	Value   int
	Known   bool // whether the expression has the number
	Derived bool // whether the number is computed: the end that follows from a single index
}

// ArrayNode finds elements of an array or a slice.
type ArrayNode struct {
	NodeType
	Params [3]ParamsEntry // the first index, the end (exclusive), and the step
}

func (a *ArrayNode) String() string { return describe(a, a.Params) }

// FilterNode finds the elements of an array or a slice for which a comparison holds. If the
// operator is "exists", it finds the elements for which the left side has a result.
type FilterNode struct {
	NodeType
	Left     *ListNode
	Right    *ListNode
	Operator string
}

func (f *FilterNode) String() string {
	return describe(f, fmt.Sprintf("%s %s %s", f.Left, f.Operator, f.Right))
}

// IntNode is an integer.
type IntNode struct {
	NodeType
	Value int
}

func (i *IntNode) String() string { return describe(i, i.Value) }

// FloatNode is a number with a decimal point.
type FloatNode struct {
	NodeType
	Value float64
}

func (i *FloatNode) String() string { return describe(i, fmt.Sprintf("%f", i.Value)) }

// BoolNode is the word true or false.
type BoolNode struct {
	NodeType
	Value bool
}

func (b *BoolNode) String() string { return describe(b, b.Value) }

// WildcardNode finds all elements, values or fields.
type WildcardNode struct{ NodeType }

func (i *WildcardNode) String() string { return i.Type().String() }

// RecursiveNode finds a value and everything inside it, at every depth.
type RecursiveNode struct{ NodeType }

func (r *RecursiveNode) String() string { return r.Type().String() }

// UnionNode finds the results of each of its lists, one after another.
type UnionNode struct {
	NodeType
	Nodes []*ListNode
}

func (u *UnionNode) String() string { return u.Type().String() }

func describe(n Node, content any) string { return fmt.Sprintf("%s: %v", n.Type(), content) }
