package main

// program is a public module that uses client-go.
type program struct {
	name    string
	kind    string
	module  string
	version string
	// folder is the part of the module that is taken, if that is not a module by itself. It becomes one.
	folder string
	build  []string // package patterns that are built; none means ./...
	test   []string // package patterns whose tests run; none means those of build
	// servers says that the tests start an etcd and a kube-apiserver.
	servers bool
	flags   []string // of go test
}

const clientGoVersion = "v0.37.2"

var programs = []program{
	{name: "examples", kind: "client-go's own examples", module: "k8s.io/client-go", version: clientGoVersion, folder: "examples"},
	{name: "sample-controller", kind: "a controller as client-go's users write it", module: "k8s.io/sample-controller", version: clientGoVersion},
	{name: "controller-runtime", kind: "the library of most operators", module: "sigs.k8s.io/controller-runtime", version: "v0.25.2", servers: true,
		build: []string{"./pkg/..."},
		test: []string{"./pkg/cache/...", "./pkg/client/...", "./pkg/controller/...", "./pkg/manager/...", "./pkg/handler/...", "./pkg/source/...",
			"./pkg/leaderelection/...", "./pkg/builder/..."}},
	{name: "sample-apiserver", kind: "an API server, on k8s.io/apiserver", module: "k8s.io/sample-apiserver", version: clientGoVersion},
	{name: "kube-state-metrics", kind: "an exporter, with its own store below a reflector", module: "k8s.io/kube-state-metrics/v2", version: "latest"},
	{name: "metrics-server", kind: "an aggregated API server", module: "sigs.k8s.io/metrics-server", version: "latest"},
	{name: "coredns", kind: "a DNS server", module: "github.com/coredns/coredns", version: "latest",
		build: []string{"./plugin/kubernetes/...", "./plugin/k8s_external/..."}},
	{name: "reloader", kind: "an operator on informers", module: "github.com/stakater/Reloader", version: "latest"},
	{name: "node-problem-detector", kind: "an agent", module: "k8s.io/node-problem-detector", version: "latest"},
}
