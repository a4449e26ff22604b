// Command try evaluates JSONPath expressions, one per line in Go's quotes. It prints the nodes, the
// output and the errors of each expression.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// pods is data with Go types, as clients return it.
type pods struct {
	Kind  string            `json:"kind"`
	Items []pod             `json:"items"`
	Ptr   *pod              `json:"ptr"`
	None  *pod              `json:"none,omitempty"`
	Empty map[string]string `json:"empty"`
	Any   any               `json:"any"`
	Embedded
}

// Embedded is a struct that is embedded without a JSON name.
type Embedded struct {
	Deep string `json:"deep"`
}

type pod struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
	Ports  []int             `json:"ports"`
	Ready  bool              `json:"ready"`
	Load   float64           `json:"load"`
	NoTag  string
	Skip   string `json:"-"`
}

const document = `{"kind":"List","a.b":"dotted","items":[
{"name":"x","labels":{"app":"web","k8s.io/n":"1"},"ports":[1,2,3,4,5],"ready":true,"load":1.5,"at":"2020-01-01","null":null},
{"name":"y","labels":{"app":"db"},"ports":[],"ready":false,"load":-2,"at":"2021-01-01"},
{"name":"z","ports":[10],"load":3,"nested":[[1,2],[3,[4]]],"quote":"it's \"q\" <b>"}],
"empty":{},"none":null,"nothing":[],"s":"text","n":12,"big":12345678901234567890,"f":0.1,"large":1e21,"t":true,
"book":[{"category":"fiction","price":8.95,"isbn":"1"},{"category":"reference","price":12.99}]}`

func main() {
	var generic any
	if err := json.Unmarshal([]byte(document), &generic); err != nil {
		panic(err)
	}
	one := pod{Name: "x", Labels: map[string]string{"app": "web"}, Ports: []int{1, 2, 3}, Ready: true, Load: 1.5, NoTag: "untagged", Skip: "skipped"}
	typed := pods{
		Kind: "List", Items: []pod{one, {Name: "y", Load: -2}}, Ptr: &one, Any: map[string]any{"a": 1, "b": []any{nil, "s"}},
		Embedded: Embedded{Deep: "deep"},
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		expression, err := strconv.Unquote(lines.Text())
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(out, "%s\n", lines.Text())
		parser, err := jsonpath.Parse("name", expression)
		if err != nil {
			fmt.Fprintf(out, "\terror: %v\n", err)
			continue
		}
		fmt.Fprintf(out, "\t%q\n", dump(parser.Root))
		try(out, expression, "generic", generic)
		try(out, expression, "typed", typed)
		try(out, expression, "pointer", &typed)
		try(out, expression, "nil", nil)
	}
}

// try prints the results of an expression on data in three modes: with missing keys refused, with
// missing keys allowed, and with JSON output.
func try(out *bufio.Writer, expression, name string, data any) {
	for _, how := range []string{"strict", "lenient", "json"} {
		fmt.Fprintf(out, "\t%s %s: %s\n", how, name, address.ReplaceAllString(evaluate(expression, data, how), "ADDRESS"))
	}
}

// address matches the parts of lines that differ between runs.
var address = regexp.MustCompile("0x[0-9a-f]+")

func evaluate(expression string, data any, how string) (result string) {
	defer func() {
		if p := recover(); p != nil {
			result = "panic"
		}
	}()
	make := func() *jsonpath.JSONPath {
		j := jsonpath.New("name").AllowMissingKeys(how != "strict")
		j.EnableJSONOutput(how == "json")
		if err := j.Parse(expression); err != nil {
			panic(err)
		}
		return j
	}
	var text bytes.Buffer
	if err := make().Execute(&text, data); err != nil {
		result = fmt.Sprintf("error: %v", err)
	}
	shown := text.String()
	// client-go iterates over maps in random order
	if strings.ContainsAny(expression, "*") || strings.Contains(expression, "..") {
		words := strings.FieldsFunc(shown, func(c rune) bool { return strings.ContainsRune(" ,\n", c) })
		slices.Sort(words)
		shown = strings.Join(words, " ")
	}
	result = fmt.Sprintf("%q %s", shown, result)
	found, err := make().FindResults(data)
	if err != nil {
		return fmt.Sprintf("%s; found: error: %v", result, err)
	}
	result += "; found"
	for _, f := range found {
		result += fmt.Sprint(" ", len(f))
	}
	return result
}

func dump(node jsonpath.Node) string {
	switch node := node.(type) {
	case *jsonpath.ListNode:
		text := " ("
		for _, n := range node.Nodes {
			text += dump(n)
		}
		return text + ")"
	case *jsonpath.UnionNode:
		text := " <" + node.String()
		for _, n := range node.Nodes {
			text += dump(n)
		}
		return text + ">"
	case *jsonpath.FilterNode:
		return " <" + node.String() + dump(node.Left) + dump(node.Right) + ">"
	}
	return fmt.Sprintf(" [%v %s]", node.Type(), node.String())
}
