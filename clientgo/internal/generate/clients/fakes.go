package main

import "strings"

// fakes writes the fake clients of a group version. Methods beyond the common verbs are written by
// hand, in the package's expansion.go. Kinds with such methods have a generated type
// fake<Resource>, which is the receiver of these methods.
func (v version) fakes(w *writer) {
	w.doc = "has fake clients of k8s.io/api/" + v.Folder() + ", for tests."
	typed, name := v.typedName(w), "Fake"+v.name()
	w.printf(`// %[1]s is a %[2]sInterface that answers from a Fake.
type %[1]s struct{ *%[3]s.Fake }

// RESTClient returns a nil *rest.RESTClient: there is no server.
func (c *%[1]s) RESTClient() %[4]s.Interface {
	var none *%[4]s.RESTClient
	return none
}

`, name, typed+"."+v.name(), w.use(clientGo+"testing"), w.rest())
	for _, k := range v.kinds {
		v.fake(w, k)
	}
}

// fake writes the fake client of a kind.
func (v version) fake(w *writer, k kind) {
	parameter, namespace := "namespace string", "namespace"
	if k.Cluster {
		parameter, namespace = "", `""`
	}
	fakes, gentype, typ, impl := w.use(clientGo+"kubernetes/internal/fakes"), clientGo+"gentype", w.typ(k.object.Type()), "fake"+k.plural()
	arguments := "(c.Fake, " + namespace + ", " + w.use(v.Path()) + `.SchemeGroupVersion, "` + k.resource() + `", "` + k.name() + `"`
	embedded, client := "FakeClient[*"+typ+"]", fakes+".New["+typ+"]"+arguments+")"
	if k.has("list") {
		apply := "*" + w.use(clientGo+"applyconfigurations/"+v.Folder()) + "." + k.name() + "ApplyConfiguration"
		embedded = "FakeClientWithListAndApply[*" + typ + ", *" + typ + "List, " + apply + "]"
		client = fakes + ".Full[" + apply + "]" + arguments + ", func(l *" + typ + "List) *[]" + typ + " { return &l.Items })"
	}
	special := len(k.Methods) > 0 || w.expansions[k.name()+"Expansion"]
	if special {
		client = impl + "{" + client + "}"
	}
	w.printf("// %s returns a fake client.\nfunc (c *Fake%s) %[1]s(%[3]s) %[4]s.%[5]sInterface {\n\treturn %[6]s\n}\n\n",
		k.plural(), v.name(), parameter, v.typedName(w), k.name(), client)
	if !special {
		return
	}
	w.printf("type %s struct { *%s.%s }\n\n", impl, w.use(gentype), embedded)
	for _, m := range k.Methods {
		result, _ := v.operand(w, k, m.Result)
		_, input := v.operand(w, k, m.Input)
		options := "opts"
		if m.Verb == "get" {
			input, options = "", "options"
		} else {
			input += ", "
		}
		w.printf("// %s answers the request to the subresource %s.\nfunc (c %s) %s {\n\treturn %s.%s[%s](c, %sName, %q, %s%s)\n}\n\n",
			m.Name, m.Subresource, impl, v.signature(w, k, m.Name), fakes, strings.ToUpper(m.Verb[:1])+m.Verb[1:], result,
			lower(k.name()), m.Subresource, input, options)
	}
}

// fakeClientset writes the methods of the fake clientset that return the fakes of all group
// versions.
func fakeClientset(w *writer, all []version) {
	for _, v := range all {
		fake := w.use(clientGo + "kubernetes/typed/" + v.Folder() + "/fake")
		w.printf("// %s returns the fake client of %s.\nfunc (c *Clientset) %[1]s() %[3]s.%[1]sInterface { return &%[4]s.Fake%[1]s{Fake: &c.Fake} }\n\n",
			v.name(), v.Path(), v.typedName(w), fake)
	}
}
