package main

// clientset writes the client of all group versions.
func clientset(w *writer, all []version) {
	w.doc = "has the client of all built-in types."
	rest, discovery, http := w.rest(), w.use(clientGo+"discovery"), w.use("net/http")
	w.printf("// Interface has the clients of all group versions.\ntype Interface interface {\n\tDiscovery() %s.DiscoveryInterfaces\n", discovery)
	for _, v := range all {
		w.printf("\t%s() %s.%[1]sInterface\n", v.name(), v.typedName(w))
	}
	w.printf("}\n\n// Clientset is the Interface that sends requests.\ntype Clientset struct {\n\t*%s.DiscoveryClient\n", discovery)
	for _, v := range all {
		w.printf("\t%s *%s.%sClient\n", lower(v.name()), v.typedName(w), v.name())
	}
	w.printf("}\n\n")
	for _, v := range all {
		w.printf("// %s returns the client of %s.\nfunc (c *Clientset) %[1]s() %[3]s.%[1]sInterface { return c.%[4]s }\n\n", v.name(), v.Path(), v.typedName(w), lower(v.name()))
	}
	w.printf(`// Discovery returns the client for what the server has.
func (c *Clientset) Discovery() %[2]s.DiscoveryInterfaces {
	if c == nil {
		return nil
	}
	return c.DiscoveryClient
}

// NewForConfig returns a clientset for a configuration. All of its clients share
// connections and the rate limit.
func NewForConfig(c *%[1]s.Config) (*Clientset, error) {
	config := *c
	if config.UserAgent == "" {
		config.UserAgent = %[1]s.DefaultKubernetesUserAgent()
	}
	httpClient, err := %[1]s.HTTPClientFor(&config)
	if err != nil {
		return nil, err
	}
	return NewForConfigAndClient(&config, httpClient)
}

// NewForConfigAndClient is NewForConfig with a client that sends the requests.
func NewForConfigAndClient(c *%[1]s.Config, httpClient *%[3]s.Client) (*Clientset, error) {
	config, err := %[4]s.Limited(c)
	if err != nil {
		return nil, err
	}
	cs := &Clientset{}
`, rest, discovery, http, w.use(clientGo+"kubernetes/internal/defaults"))
	for _, v := range all {
		w.printf("\tif cs.%s, err = %s.NewForConfigAndClient(config, httpClient); err != nil {\n\t\treturn nil, err\n\t}\n", lower(v.name()), v.typedName(w))
	}
	w.printf(`	if cs.DiscoveryClient, err = %[2]s.NewDiscoveryClientForConfigAndClient(config, httpClient); err != nil {
		return nil, err
	}
	return cs, nil
}

// NewForConfigOrDie is NewForConfig, and panics where that fails.
func NewForConfigOrDie(c *%[1]s.Config) *Clientset {
	cs, err := NewForConfig(c)
	if err != nil {
		panic(err)
	}
	return cs
}

// New returns a clientset over a REST client.
func New(c %[1]s.Interface) *Clientset {
	return &Clientset{
		DiscoveryClient: %[2]s.NewDiscoveryClient(c),
`, rest, discovery)
	for _, v := range all {
		w.printf("\t\t%s: %s.New(c),\n", lower(v.name()), v.typedName(w))
	}
	w.printf("\t}\n}\n")
}

func (v version) typedName(w *writer) string {
	return w.use(clientGo + "kubernetes/typed/" + v.Folder())
}

// everything writes the function that adds all types to a scheme.
func everything(w *writer, all []version) {
	w.doc = "adds all built-in types to a scheme."
	w.printf("// AddToScheme adds all built-in types to a scheme.\nvar AddToScheme = (&%s.SchemeBuilder{\n", w.use("k8s.io/apimachinery/pkg/runtime"))
	for _, v := range all {
		w.printf("\t%s.AddToScheme,\n", w.use(v.Path()))
	}
	w.printf("}).AddToScheme\n")
}

// groups writes the informer packages of all groups, and the factory's methods that return them.
func (g *generator) groups(all []version) error {
	folders := []string{}
	byFolder := map[string][]version{}
	for _, v := range all {
		if len(v.listed()) == 0 {
			continue
		}
		if byFolder[v.folder()] == nil {
			folders = append(folders, v.folder())
		}
		byFolder[v.folder()] = append(byFolder[v.folder()], v)
	}
	for _, folder := range folders {
		if err := g.add("informers/"+folder, func(w *writer) { group(w, byFolder[folder]) }); err != nil {
			return err
		}
	}
	return g.add("informers", func(w *writer) { factory(w, folders, byFolder) })
}

// group writes the informer package of a group.
func group(w *writer, versions []version) {
	w.doc = "has the informers of a group, by its versions."
	internal := w.use(clientGo + "informers/internalinterfaces")
	w.printf("// Interface has the versions of the group.\ntype Interface interface {\n")
	for _, v := range versions {
		w.printf("\t%s() %s.Interface\n", title(v.Version()), w.use(clientGo+"informers/"+v.Folder()))
	}
	w.printf("}\n\ntype group struct { %s.Scope }\n\n", w.use(clientGo+"informers/internal/scope"))
	w.printf("// New returns the informers of a factory, in a namespace, or in all if it is empty.\nfunc New(f %[1]s.SharedInformerFactory, namespace string, tweakListOptions %[1]s.TweakListOptionsFunc) Interface {\n"+
		"\treturn group{%[2]s.Scope{Factory: f, Namespace: namespace, Tweak: tweakListOptions}}\n}\n\n", internal, w.use(clientGo+"informers/internal/scope"))
	for _, v := range versions {
		w.printf("// %s returns the informers of a version.\nfunc (g group) %[1]s() %[2]s.Interface { return %[2]s.New(g.Factory, g.Namespace, g.Tweak) }\n\n", title(v.Version()), w.use(clientGo+"informers/"+v.Folder()))
	}
}

// factory writes the factory's methods for groups, and the function that finds the informer of a
// resource.
func factory(w *writer, folders []string, byFolder map[string][]version) {
	w.printf("// groups are the methods of a factory that lead to the informers of the groups.\ntype groups interface {\n")
	for _, folder := range folders {
		w.printf("\t%s() %s.Interface\n", byFolder[folder][0].goName(), w.use(clientGo+"informers/"+folder))
	}
	w.printf("}\n\n")
	for _, folder := range folders {
		w.printf("// %s returns the informers of a group.\nfunc (f *sharedInformerFactory) %[1]s() %[2]s.Interface { return %[2]s.New(f, f.namespace, f.tweakListOptions) }\n\n",
			byFolder[folder][0].goName(), w.use(clientGo+"informers/"+folder))
	}
	w.printf("// informerOf returns the informer of a resource, or nil if it is none of a built-in type.\nfunc (f *sharedInformerFactory) informerOf(resource %s.GroupVersionResource) %s.SharedIndexInformer {\n\tswitch resource {\n",
		w.use("k8s.io/apimachinery/pkg/runtime/schema"), w.cache())
	for _, folder := range folders {
		for _, v := range byFolder[folder] {
			for _, k := range v.listed() {
				w.printf("\tcase %s.SchemeGroupVersion.WithResource(%q):\n\t\treturn f.%s().%s().%s().Informer()\n", w.use(v.Path()), k.resource(), v.goName(), title(v.Version()), k.plural())
			}
		}
	}
	w.printf("\t}\n\treturn nil\n}\n")
}
