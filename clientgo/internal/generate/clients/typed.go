package main

import (
	"slices"
	"strings"

	"k8s.io/client-go/internal/generate/model"
)

// typed writes the clients of a group version.
func (v version) typed(w *writer) {
	w.doc = "has the typed clients of " + v.Path() + "."
	rest := w.rest()
	client, face := v.name()+"Client", v.name()+"Interface"
	w.printf("// %s has the clients of the group version.\ntype %[1]s interface {\n\tRESTClient() %s.Interface\n", face, rest)
	for _, k := range v.kinds {
		w.printf("\t%sGetter\n", k.plural())
	}
	w.printf("}\n\n// %s is the %s that sends requests.\ntype %[1]s struct { restClient %[3]s.Interface }\n\n", client, face, rest)
	w.printf(`// NewForConfig returns a client for a configuration, with a connection of its own.
func NewForConfig(c *%[1]s.Config) (*%[2]s, error) {
	config := configFor(c)
	httpClient, err := %[1]s.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return NewForConfigAndClient(config, httpClient)
}

// NewForConfigAndClient returns a client for a configuration that sends its requests by h.
func NewForConfigAndClient(c *%[1]s.Config, h *%[3]s.Client) (*%[2]s, error) {
	client, err := %[1]s.RESTClientForConfigAndClient(configFor(c), h)
	if err != nil {
		return nil, err
	}
	return New(client), nil
}

// NewForConfigOrDie is NewForConfig, and panics where that fails.
func NewForConfigOrDie(c *%[1]s.Config) *%[2]s {
	client, err := NewForConfig(c)
	if err != nil {
		panic(err)
	}
	return client
}

func configFor(c *%[1]s.Config) *%[1]s.Config {
	return %[4]s.Config(c, %[5]s.SchemeGroupVersion, %[6]s)
}

// New returns a client over a REST client.
func New(c %[1]s.Interface) *%[2]s { return &%[2]s{c} }

// RESTClient returns the REST client that sends the requests.
func (c *%[2]s) RESTClient() %[1]s.Interface {
	if c == nil {
		return nil
	}
	return c.restClient
}

`, rest, client, w.use("net/http"), w.use(clientGo+"kubernetes/internal/defaults"), w.use(v.Path()), strings.Join(v.schemes(w), ", "))
	for _, k := range v.kinds {
		v.typedKind(w, k)
	}
}

// typedKind writes the client of a kind.
func (v version) typedKind(w *writer, k kind) {
	face, impl, constructor := k.name()+"Interface", lower(k.plural()), "new"+k.plural()
	parameter, argument, held := "namespace string", "namespace", "namespace"
	if k.Cluster {
		parameter, argument, held = "", "", `""`
	}
	typ := w.typ(k.object.Type())
	w.printf("// %sGetter returns a client for %[2]s.\ntype %[1]sGetter interface { %[1]s(%[3]s) %[2]s }\n\n", k.plural(), face, parameter)
	w.printf("// %s returns a client.\nfunc (c *%sClient) %[1]s(%[3]s) %[4]s { return %[5]s(c%[6]s) }\n\n", k.plural(), v.name(), parameter, face, constructor, comma(argument))
	w.printf("// %s has the requests for %s.\ntype %[1]s interface {\n", face, k.resource())
	for _, m := range v.methods(w, k) {
		w.printf("\t%s\n", m)
	}
	w.printf("\n\t%sExpansion\n}\n\n", k.name())
	if !w.expansions[k.name()+"Expansion"] {
		w.printf("// %[1]sExpansion has what is special to the kind, which is nothing.\ntype %[1]sExpansion interface{}\n\n", k.name())
	}
	gentype := w.use(clientGo + "gentype")
	of, make, lists := "Client[*"+typ+"]", "NewClient[*"+typ+"]", ""
	if k.has("list") {
		apply := w.use(clientGo+"applyconfigurations/"+v.Folder()) + "." + k.name() + "ApplyConfiguration"
		of = "ClientWithListAndApply[*" + typ + ", *" + typ + "List, *" + apply + "]"
		make, lists = "New"+of, "\n\t\tfunc() *"+typ+"List { return &"+typ+"List{} },"
	}
	w.printf("type %s struct { *%s.%s }\n\n", impl, gentype, of)
	w.printf("func %s(c *%sClient%s) *%s {\n\treturn &%[4]s{%[5]s.%[6]s(%[7]q, c.RESTClient(), %[8]s.Parameters, %[9]s,\n\t\tfunc() *%[10]s { return &%[10]s{} },%[11]s\n\t\t%[5]s.PrefersProtobuf[*%[10]s](),\n\t)}\n}\n\n",
		constructor, v.name(), comma(parameter), impl, gentype, make, k.resource(), w.use(clientGo+"internal/codec"), held, typ, lists)
	for _, m := range k.Methods {
		v.special(w, k, m.Name)
	}
}

// expanded maps a group version to further packages of k8s.io/api: the hand-written methods of its
// clients send types of these packages.
var expanded = map[string][]string{"core/v1": {"policy/v1", "policy/v1beta1"}}

// schemes returns the functions that register types. The clients of a version send and receive
// these types.
func (v version) schemes(w *writer) (all []string) {
	folders := append([]string{v.Folder()}, expanded[v.Folder()]...)
	for _, k := range v.kinds {
		for _, m := range k.Methods {
			for _, of := range []string{m.Input, m.Result} {
				from, _ := v.resolve(k, of)
				folders = append(folders, strings.TrimPrefix(from, model.APIs))
			}
		}
	}
	slices.Sort(folders[1:])
	for _, folder := range folders {
		if add := w.use(model.APIs+folder) + ".AddToScheme"; !slices.Contains(all, add) {
			all = append(all, add)
		}
	}
	return all
}

func comma(s string) string {
	if s == "" {
		return ""
	}
	return ", " + s
}

// methods returns the methods of a client's interface, except the methods of its expansion.
func (v version) methods(w *writer, k kind) (all []string) {
	typ, meta, ctx := w.typ(k.object.Type()), w.meta(), w.ctx()
	add := func(verb, method string) {
		if k.has(verb) {
			all = append(all, strings.NewReplacer("CTX", "ctx "+ctx, "META", meta, "OBJECT", lower(k.name())+" *"+typ, "TYPE", "*"+typ).Replace(method))
		}
	}
	add("create", "Create(CTX, OBJECT, opts META.CreateOptions) (TYPE, error)")
	add("update", "Update(CTX, OBJECT, opts META.UpdateOptions) (TYPE, error)")
	add("updateStatus", "UpdateStatus(CTX, OBJECT, opts META.UpdateOptions) (TYPE, error)")
	add("delete", "Delete(CTX, name string, opts META.DeleteOptions) error")
	add("deleteCollection", "DeleteCollection(CTX, opts META.DeleteOptions, listOpts META.ListOptions) error")
	add("get", "Get(CTX, name string, opts META.GetOptions) (TYPE, error)")
	add("list", "List(CTX, opts META.ListOptions) (TYPEList, error)")
	add("watch", "Watch(CTX, opts META.ListOptions) ("+v.watch(w, k)+".Interface, error)")
	if k.has("patch") {
		types := w.use("k8s.io/apimachinery/pkg/types")
		add("patch", "Patch(CTX, name string, pt "+types+".PatchType, data []byte, opts META.PatchOptions, subresources ...string) (result TYPE, err error)")
	}
	if k.has("apply") {
		apply := w.use(clientGo+"applyconfigurations/"+v.Folder()) + "." + k.name() + "ApplyConfiguration"
		add("apply", "Apply(CTX, "+lower(k.name())+" *"+apply+", opts META.ApplyOptions) (result TYPE, err error)")
		add("applyStatus", "ApplyStatus(CTX, "+lower(k.name())+" *"+apply+", opts META.ApplyOptions) (result TYPE, err error)")
	}
	for _, m := range k.Methods {
		all = append(all, v.signature(w, k, m.Name))
	}
	return all
}

// watch imports package watch if the kind can be watched, and returns the name of the import.
func (v version) watch(w *writer, k kind) string {
	if !k.has("watch") {
		return ""
	}
	return w.use("k8s.io/apimachinery/pkg/watch")
}

// special writes a method that a kind's markers define. The method sends a request for a
// subresource.
func (v version) special(w *writer, k kind, name string) {
	m := k.method(name)
	sub := w.use(clientGo + "kubernetes/internal/subresource")
	result, _ := v.operand(w, k, m.Result)
	call := map[string]string{"get": "Get", "update": "Update", "create": "Create", "apply": "Apply"}[m.Verb]
	input := ""
	if m.Verb != "get" {
		_, variable := v.operand(w, k, m.Input)
		input = ", " + variable
	}
	options := "opts"
	if m.Verb == "get" {
		options = "options"
	}
	scope := sub + ".Namespaced(c.GetNamespace())"
	if k.Cluster {
		scope = sub + ".Cluster"
	}
	w.printf("// %s sends the request to the subresource %s.\nfunc (c *%s) %s {\n\treturn %s.%s[%s](ctx, c.GetClient(), %s.Parameters, %s, %q, %sName, %q%s, %s)\n}\n\n",
		m.Name, m.Subresource, lower(k.plural()), v.signature(w, k, name), sub, call, result, w.use(clientGo+"internal/codec"), scope, k.resource(), lower(k.name()), m.Subresource, input, options)
}

func (v version) signature(w *writer, k kind, name string) string {
	m := k.method(name)
	meta, ctx := w.meta(), w.ctx()
	result, _ := v.operand(w, k, m.Result)
	input, variable := v.operand(w, k, m.Input)
	head := m.Name + "(ctx " + ctx + ", " + lower(k.name()) + "Name string, "
	tail := ") (*" + result + ", error)"
	switch m.Verb {
	case "get":
		return head + "options " + meta + ".GetOptions" + tail
	case "apply":
		return head + variable + " *" + v.applied(w, k, m.Input) + ", opts " + meta + ".ApplyOptions" + tail
	default:
		return head + variable + " *" + input + ", opts " + meta + "." + title(m.Verb) + "Options" + tail
	}
}

// operand resolves a type that a marker names. It returns the type's name in the generated file,
// and a name for a variable of the type.
func (v version) operand(w *writer, k kind, of string) (typ, variable string) {
	from, name := v.resolve(k, of)
	return w.use(from) + "." + name, lower(name)
}

// applied returns the name of the apply configuration for a type that a marker names.
func (v version) applied(w *writer, k kind, of string) string {
	from, name := v.resolve(k, of)
	return w.use(clientGo+"applyconfigurations/"+strings.TrimPrefix(from, model.APIs)) + "." + name + "ApplyConfiguration"
}

// resolve splits the type in a marker into package and name. An empty type means the kind itself,
// and a name without a path is in the same package.
func (v version) resolve(k kind, of string) (from, name string) {
	if of == "" {
		return v.Path(), k.name()
	}
	if i := strings.LastIndex(of, "."); i >= 0 {
		return of[:i], of[i+1:]
	}
	return v.Path(), of
}
