package jsonpath_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/client-go/util/jsonpath"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const document = `{"kind":"List","items":[{"name":"x","labels":{"app.k8s.io/name":"web"},"ports":[80,443],"ready":true,"load":1.5},
{"name":"y","labels":{"app.k8s.io/name":"db"},"ports":[],"ready":false,"load":2.5},{"name":"z","ports":[1]}],"none":null}`

func data(t testing.TB) (value any) {
	require.NoError(t, json.Unmarshal([]byte(document), &value))
	return value
}

// clientgo/proof has a table of 400 expressions, and compares their results with client-go's.
func TestExpressions(t *testing.T) {
	for expression, want := range map[string]string{
		`{.kind}: {.items[*].name}`:                                                "List: x y z",
		`{.items[-1].name}{.items[0:2].name}{.items[::2].name}`:                    "zx yx z",
		`{.items[0].labels.app\.k8s\.io/name}`:                                     "web",
		`{.items[*]['name', 'load']}`:                                              "x y z 1.5 2.5",
		`{.items[?(@.ready==true)].name}`:                                          "x",
		`{.items[?(@.load>=2.0)].name}{.items[?(@.name!="x")].name}`:               "yy z",
		`{.items[?(@.labels)].name}`:                                               "x y",
		`{.items[?('<x'!=@.name)].name}`:                                           "x y z",
		`{..name} {.items[0].ports.*}`:                                             "x y z 80 443",
		`{.items[*].ports[*]}`:                                                     "80 443 1",
		`{range .items[*]}{.name}{range .ports[*]} {@}{end}{"\n"}{end}`:            "x 80 443\ny\nz 1\n",
		`{range .items[?(@.missing)]}{.name}{end}{range .items[0]}{.name}`:         "x",
		`{.items[0]}{.none}{.missing}`:                                             `{"labels":{"app.k8s.io/name":"web"},"load":1.5,"name":"x","ports":[80,443],"ready":true}null`,
		`{.items[0].ports[0:2:9223372036854775807]}{.items[0].ports[1:2:2]}{"\\"}`: `80443\`,
	} {
		var out bytes.Buffer
		j := jsonpath.New("name").AllowMissingKeys(true)
		require.NoError(t, j.Parse(expression), expression)
		for range 2 { // the second result equals the first
			out.Reset()
			require.NoError(t, j.Execute(&out, data(t)), expression)
			require.Equal(t, want, out.String(), expression)
		}
	}
}

func TestErrors(t *testing.T) {
	for expression, want := range map[string]string{
		`{.missing}`:                 "missing is not found",
		`{.items[9]}`:                "array index out of bounds: index 9, length 3",
		`{.kind[0]}`:                 "string is not array or slice",
		`{end}`:                      "not in range, nothing to end",
		`{.items[?(@.load==1)]}`:     "incompatible types for comparison",
		`{.items[?(@.ports[*]==1)]}`: "can only compare one element at a time",
		`{nothing}`:                  "unrecognized identifier nothing",
		`{.kind`:                     "unclosed action",
		`{.items[x]}`:                "invalid array index x",
	} {
		j := jsonpath.New("name")
		err := j.Parse(expression)
		if err == nil {
			_, err = j.FindResults(data(t))
		}
		require.EqualError(t, err, want, "%.40s", expression)
	}
	require.EqualError(t, jsonpath.New("name").Execute(nil, nil), "name is an incomplete jsonpath template")
	j := jsonpath.New("name")
	require.NoError(t, j.Parse("{.kind}"))
	require.Error(t, j.Parse("{"))
	require.Error(t, j.Execute(nil, nil), "a failed Parse drops the earlier expression")
}

func TestJSONOutput(t *testing.T) {
	j := jsonpath.New("name")
	j.EnableJSONOutput(true)
	require.NoError(t, j.Parse("{.items[*].name}"))
	var out bytes.Buffer
	require.NoError(t, j.Execute(&out, data(t)))
	require.Equal(t, "[\n    \"x\",\n    \"y\",\n    \"z\"\n]\n", out.String())
	out.Reset()
	require.NoError(t, j.PrintResults(&out, []reflect.Value{{}}), "PrintResults accepts an invalid value; client-go panics")
	require.Equal(t, "[\n    null\n]\n", out.String())
}

// inner is a struct with fields of every kind.
type inner struct {
	Name   string `json:"name"`
	hidden string
	Self   *inner
}

type outer struct {
	inner
	Inline struct {
		In string `json:"in"`
	} `json:",inline"`
	Absent *inner `json:"absent"`
}

func TestStructs(t *testing.T) {
	value := &outer{inner: inner{Name: "n", hidden: "h"}}
	value.Inline.In = "i"
	for expression, want := range map[string]string{"{.name}{.Name}{.in}{.Inline.in}": "nnii", "{.hidden}{.absent.name}": "", "{..in}": "i i", "{.absent}": "<nil>"} {
		j := jsonpath.New("name").AllowMissingKeys(true)
		require.NoError(t, j.Parse(expression))
		var out bytes.Buffer
		require.NoError(t, j.Execute(&out, value), expression)
		require.Equal(t, want, out.String(), expression)
	}
	value.Self = &value.inner // a cycle
	j := jsonpath.New("name")
	require.NoError(t, j.Parse("{..name}"))
	_, err := j.FindResults(&value.inner)
	require.EqualError(t, err, "the data is too deep")
}

func TestUnquoteExtend(t *testing.T) { // each result is client-go's
	for s, want := range map[string]string{
		`''`: "", `"a"`: "a", `'ab'`: "ab", `'\n'`: "\n", `'\x41'`: "A", `'\u00e9'`: "é", `'\101'`: "A", `'\''`: "'", `"\""`: `"`, "'a\nb'": "a\nb", "\"\xff\"": "\xff",
	} {
		text, err := jsonpath.UnquoteExtend(s)
		require.NoError(t, err, s)
		require.Equal(t, want, text)
	}
	for _, s := range []string{``, `"`, `'a"`, `a`, `'\q'`, `'\'`, `'\"'`, `"\'"`, "`a`", `"a"b"`} {
		_, err := jsonpath.UnquoteExtend(s)
		require.True(t, errors.Is(err, jsonpath.ErrSyntax), s)
	}
}

// FuzzExpression checks that no expression panics, and that parsed expressions can be printed.
func FuzzExpression(f *testing.F) {
	value := data(f)
	f.Fuzz(func(t *testing.T, expression string) {
		// each ".." finds everything below the results of the ".." before it, which takes too long
		if strings.Count(expression, "..") > 3 {
			return
		}
		j := jsonpath.New("name").AllowMissingKeys(len(expression)%2 == 0)
		if j.Parse(expression) != nil {
			return
		}
		var out bytes.Buffer
		_ = j.Execute(&out, value)
		p, err := jsonpath.Parse("name", expression)
		require.NoError(t, err)
		require.Equal(t, "NodeList", p.Root.String())
		for _, node := range p.Root.Nodes {
			require.NotEmpty(t, node.String())
		}
	})
}
