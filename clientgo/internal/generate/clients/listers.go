package main

import "strings"

// listers writes the listers of a group version.
func (v version) listers(w *writer) {
	w.doc = "has listers of the types of " + v.Path() + "."
	for _, k := range v.kinds {
		if k.has("list") && k.has("get") || v.folder() == "imagepolicy" || k.name() == "Eviction" {
			v.lister(w, k)
		}
	}
}

func (v version) lister(w *writer, k kind) {
	listers, labels, typ := w.use(clientGo+"listers"), w.use("k8s.io/apimachinery/pkg/labels"), w.typ(k.object.Type())
	impl := lower(k.name()) + "Lister"
	w.printf("// %sLister reads from a store. Nobody may change the objects that it returns.\ntype %[1]sLister interface {\n"+
		"\t// List returns the objects that match.\n\tList(selector %[2]s.Selector) (ret []*%[3]s, err error)\n", k.name(), labels, typ)
	if k.Cluster {
		w.printf("\t// Get returns the object of a name, or an error of NotFound.\n\tGet(name string) (*%s, error)\n", typ)
	} else {
		w.printf("\t// %s returns a lister of one namespace.\n\t%[1]s(namespace string) %[2]sNamespaceLister\n", k.plural(), k.name())
	}
	w.printf("\t%sListerExpansion\n}\n\ntype %s struct { %s.ResourceIndexer[*%s] }\n\n", k.name(), impl, listers, typ)
	w.printf("// New%sLister returns a lister over a store.\nfunc New%[1]sLister(indexer %[2]s.Indexer) %[1]sLister {\n\treturn &%[3]s{%[4]s.New[*%[5]s](indexer, %[6]s.Resource(%[7]q))}\n}\n\n",
		k.name(), w.cache(), impl, listers, typ, w.use(v.Path()), strings.ToLower(k.name()))
	v.expansion(w, k.name()+"ListerExpansion")
	if k.Cluster {
		return
	}
	w.printf("// %s returns a lister of one namespace.\nfunc (l *%[2]s) %[1]s(namespace string) %[3]sNamespaceLister {\n\treturn %[4]s{%[5]s.NewNamespaced[*%[6]s](l.ResourceIndexer, namespace)}\n}\n\n",
		k.plural(), impl, k.name(), lower(k.name())+"NamespaceLister", listers, typ)
	w.printf("// %sNamespaceLister reads the objects of one namespace from a store. Nobody may change the objects that it returns.\ntype %[1]sNamespaceLister interface {\n"+
		"\t// List returns the objects that match.\n\tList(selector %[2]s.Selector) (ret []*%[3]s, err error)\n\t// Get returns the object of a name, or an error of NotFound.\n\tGet(name string) (*%[3]s, error)\n\t%[1]sNamespaceListerExpansion\n}\n\n", k.name(), labels, typ)
	w.printf("type %sNamespaceLister struct { %s.ResourceIndexer[*%s] }\n\n", lower(k.name()), listers, typ)
	v.expansion(w, k.name()+"NamespaceListerExpansion")
}

func (v version) expansion(w *writer, name string) {
	if !w.expansions[name] {
		w.printf("// %s has what is special to the kind, which is nothing.\ntype %[1]s interface{}\n\n", name)
	}
}
