package main

// informers writes the informers of a group version.
func (v version) informers(w *writer) {
	kinds := v.listed()
	if len(kinds) == 0 {
		return
	}
	w.doc = "has informers of the types of " + v.Path() + "."
	internal, scope := w.use(clientGo+"informers/internalinterfaces"), w.use(clientGo+"informers/internal/scope")
	w.printf("// Interface has the informers of the group version.\ntype Interface interface {\n")
	for _, k := range kinds {
		w.printf("\t%s() Typed%sInformer\n", k.plural(), k.name())
	}
	w.printf("}\n\ntype version struct { %s.Scope }\n\n", scope)
	w.printf("// New returns the informers of a factory, in a namespace, or in all if it is empty.\nfunc New(f %[1]s.SharedInformerFactory, namespace string, tweakListOptions %[1]s.TweakListOptionsFunc) Interface {\n"+
		"\treturn version{%[2]s.Scope{Factory: f, Namespace: namespace, Tweak: tweakListOptions}}\n}\n\n", internal, scope)
	for _, k := range kinds {
		v.informer(w, k)
	}
}

func (v version) informer(w *writer, k kind) {
	cache, typ, name, impl := w.cache(), "*"+w.typ(k.object.Type()), k.name(), lower(k.name())+"Informer"
	lister, scope, internal := w.use(clientGo+"listers/"+v.Folder()), w.use(clientGo+"informers/internal/scope"), w.use(clientGo+"informers/internalinterfaces")
	kubernetes, duration := w.use(clientGo+"kubernetes"), w.use("time")+".Duration"
	w.printf(`// %[1]sInformer has the shared informer of a kind, and a lister over its store.
type %[1]sInformer interface {
	Informer() %[2]s.SharedIndexInformer
	Lister() %[3]s.%[1]sLister
}

// Typed%[1]sInformer is a %[1]sInformer that has the informer with types as well.
type Typed%[1]sInformer interface {
	Informer() %[2]s.SharedIndexInformer
	TypedInformer() %[1]sIndexInformer
	Lister() %[3]s.%[1]sLister
}

// %[1]sIndexInformer is a shared informer whose methods have the kind's type.
type %[1]sIndexInformer %[2]s.TypedSharedIndexInformer[%[4]s]

// %[1]sHandlerFuncs, and the types after it, are those of package cache for the kind.
type (
	%[1]sHandlerFuncs = %[2]s.TypedResourceEventHandlerFuncs[%[4]s]
	%[1]sDetailedHandlerFuncs = %[2]s.TypedResourceEventHandlerDetailedFuncs[%[4]s]
	%[1]sFilteringHandler = %[2]s.TypedFilteringResourceEventHandler[%[4]s]
	%[1]sIndexers = %[2]s.TypedIndexers[%[4]s]
	Deleted%[1]s = %[2]s.DeletedObject[%[4]s]
)

`, name, cache, lister, typ)
	// The namespace as a parameter of constructors, and as an argument of typed clients.
	namespace, in, of := "namespace string, ", "namespace", ""
	if k.Cluster {
		namespace, in = "", `""`
	} else {
		of = "namespace"
	}
	pass := in + ", "
	if k.Cluster {
		pass = ""
	}
	w.printf(`// New%[1]sInformer returns an informer of its own, which a factory would share.
func New%[1]sInformer(client %[5]s.Interface, %[6]sresyncPeriod %[7]s, indexers %[2]s.Indexers) %[2]s.SharedIndexInformer {
	return New%[1]sInformerWithOptions(client, %[8]s%[9]s.InformerOptions{ResyncPeriod: resyncPeriod, Indexers: indexers})
}

// NewTyped%[1]sInformer is New%[1]sInformer with types.
func NewTyped%[1]sInformer(client %[5]s.Interface, %[6]sresyncPeriod %[7]s, indexers %[1]sIndexers) %[1]sIndexInformer {
	return NewTyped%[1]sInformerWithOptions(client, %[8]s%[9]s.InformerOptions{ResyncPeriod: resyncPeriod, Indexers: %[2]s.TypedIndexersToIndexers(indexers)})
}

// NewFiltered%[1]sInformer is New%[1]sInformer with a function that changes
// the options of its requests.
func NewFiltered%[1]sInformer(client %[5]s.Interface, %[6]sresyncPeriod %[7]s, indexers %[2]s.Indexers, tweakListOptions %[9]s.TweakListOptionsFunc) %[2]s.SharedIndexInformer {
	return New%[1]sInformerWithOptions(client, %[8]s%[9]s.InformerOptions{ResyncPeriod: resyncPeriod, Indexers: indexers, TweakListOptions: tweakListOptions})
}

// NewTypedFiltered%[1]sInformer is NewFiltered%[1]sInformer with types.
func NewTypedFiltered%[1]sInformer(client %[5]s.Interface, %[6]sresyncPeriod %[7]s, indexers %[1]sIndexers, tweakListOptions %[9]s.TweakListOptionsFunc) %[1]sIndexInformer {
	return NewTyped%[1]sInformerWithOptions(client, %[8]s%[9]s.InformerOptions{ResyncPeriod: resyncPeriod, Indexers: %[2]s.TypedIndexersToIndexers(indexers), TweakListOptions: tweakListOptions})
}

// New%[1]sInformerWithOptions is New%[1]sInformer with all options.
func New%[1]sInformerWithOptions(client %[5]s.Interface, %[6]soptions %[9]s.InformerOptions) %[2]s.SharedIndexInformer {
	return NewTyped%[1]sInformerWithOptions(client, %[8]soptions)
}

// NewTyped%[1]sInformerWithOptions is New%[1]sInformerWithOptions with types.
func NewTyped%[1]sInformerWithOptions(client %[5]s.Interface, %[6]soptions %[9]s.InformerOptions) %[1]sIndexInformer {
	return %[10]s.New(client, client.%[11]s().%[12]s(%[13]s), &%[14]s{}, %[15]s.SchemeGroupVersion.WithResource(%[16]q), options)
}

`, name, cache, lister, typ, kubernetes, namespace, duration, pass, internal, scope, v.name(), k.plural(), of, typ[1:], w.use(v.Path()), k.resource())
	defaults := "Scope.Namespace, "
	if k.Cluster {
		defaults = ""
	} else {
		defaults = "i.Namespace, "
	}
	w.printf(`type %[1]s struct { %[2]s.Scope }

// %[3]s returns the informer of the factory.
func (v version) %[3]s() Typed%[4]sInformer { return &%[1]s{v.Scope} }

// Informer returns the factory's informer.
func (i *%[1]s) Informer() %[5]s.SharedIndexInformer { return i.TypedInformer() }

// TypedInformer returns the factory's informer, with types.
func (i *%[1]s) TypedInformer() %[4]sIndexInformer {
	return %[5]s.NewTypedSharedIndexInformer[%[6]s](i.Factory.InformerFor(&%[7]s{}, func(client %[8]s.Interface, resync %[9]s) %[5]s.SharedIndexInformer {
		return New%[4]sInformerWithOptions(client, %[10]si.Options(resync))
	}))
}

// Lister returns a lister over the store of the factory's informer.
func (i *%[1]s) Lister() %[11]s.%[4]sLister { return %[11]s.New%[4]sLister(i.Informer().GetIndexer()) }

// ToTyped%[4]sInformer adds types to an informer. If its objects have another type,
// the methods of the result panic.
func ToTyped%[4]sInformer(informer %[4]sInformer) Typed%[4]sInformer {
	if informer, ok := informer.(Typed%[4]sInformer); ok {
		return informer
	}
	return &%[12]s{informer}
}

type %[12]s struct { %[4]sInformer }

// TypedInformer returns the informer, with types.
func (a *%[12]s) TypedInformer() %[4]sIndexInformer { return To%[4]sIndexInformer(a.Informer()) }

// To%[4]sIndexInformer adds types to a shared informer. If its objects have another
// type, the methods of the result panic.
func To%[4]sIndexInformer(informer %[5]s.SharedIndexInformer) %[4]sIndexInformer {
	if informer, ok := informer.(%[4]sIndexInformer); ok {
		return informer
	}
	return %[5]s.NewTypedSharedIndexInformer[%[6]s](informer)
}

`, impl, scope, k.plural(), name, cache, typ, typ[1:], kubernetes, duration, defaults, lister, lower(name)+"TypedInformer")
}
