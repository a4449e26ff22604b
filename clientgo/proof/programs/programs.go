package main

// program is a public module that uses client-go.
type program struct {
	name    string
	kind    string
	module  string
	version string
	// dir is a folder with the program's sources, instead of a module's version.
	dir string
	// copied means that the sources are copied, for tests that write to their folder. If it is
	// false, the program is a dependency of a module that has only a go.mod, and its tests run in
	// the module cache.
	copied bool
	// folder is the part of the module that is used. It is not a module itself, so it is made a
	// module.
	folder string
	build  []string // patterns of packages to build, relative to the module; none means all
	test   []string // patterns of packages to test; none means the patterns of build
	// unused are modules that go.mod requires but no package imports, and that a module proxy may
	// lack. They are replaced by empty modules.
	unused []string
	// servers means that the tests start an etcd and a kube-apiserver.
	servers bool
	flags   []string // flags of go test
}

const (
	clientGoVersion = "v0.37.2"
	// runtimeVersion is the version of controller-runtime that fits this version of client-go.
	runtimeVersion = "v0.25.2"
)

var programs = []program{
	{name: "examples", kind: "client-go's own examples", module: "k8s.io/client-go", version: clientGoVersion, folder: "examples", copied: true},
	{name: "controller-runtime", kind: "the library of most operators", module: "sigs.k8s.io/controller-runtime", version: runtimeVersion, servers: true, copied: true,
		build: []string{"./pkg/..."},
		test: []string{"./pkg/cache/...", "./pkg/client/...", "./pkg/controller/...", "./pkg/manager/...", "./pkg/handler/...", "./pkg/source/...",
			"./pkg/leaderelection/...", "./pkg/builder/..."}},
	{name: "sample-controller", kind: "the controller from which others are written", module: "k8s.io/sample-controller", version: "v0.37.1", copied: true},
	{name: "jobset", kind: "an operator on controller-runtime", module: "sigs.k8s.io/jobset", version: "v0.12.0",
		build: []string{"./api/...", "./client-go/...", "./cmd/...", "./pkg/..."}},
	{name: "kube-state-metrics", kind: "an exporter", module: "k8s.io/kube-state-metrics/v2", version: "v2.20.0", copied: true,
		unused: []string{"inet.af/netaddr"},
		build:  []string{"./", "./internal/...", "./pkg/..."}},
	{name: "sample-apiserver", kind: "an API server, on k8s.io/apiserver", module: "k8s.io/sample-apiserver", version: clientGoVersion},
	{name: "metrics-server", kind: "an aggregated API server", module: "sigs.k8s.io/metrics-server", version: "v0.9.0",
		build: []string{"./cmd/...", "./pkg/..."}},
	{name: "coredns", kind: "a DNS server", module: "github.com/coredns/coredns", version: "v1.15.0",
		build: []string{"./plugin/kubernetes/...", "./plugin/k8s_external/..."}},
	{name: "opentelemetry", kind: "an agent: the processor of its collector that adds what it knows of pods", version: "v0.160.0",
		module: "github.com/open-telemetry/opentelemetry-collector-contrib/processor/k8sattributesprocessor"},
	{name: "prometheus", kind: "a monitoring server: its discovery of targets", module: "github.com/prometheus/prometheus", version: "v0.316.0",
		build: []string{"./discovery/kubernetes/..."}},
	{name: "kubectl", kind: "the command line", module: "k8s.io/kubectl", version: clientGoVersion,
		build: []string{"./pkg/..."},
		test: []string{"./pkg/cmd/apply", "./pkg/cmd/delete", "./pkg/cmd/events", "./pkg/cmd/get", "./pkg/cmd/wait", "./pkg/describe",
			"./pkg/drain", "./pkg/polymorphichelpers", "./pkg/scale"}},
	{name: "dynamic-resource-allocation", kind: "the library of drivers of devices", module: "k8s.io/dynamic-resource-allocation", version: clientGoVersion,
		build: []string{"./..."},
		test:  []string{"./client", "./deviceclass/...", "./kubeletplugin", "./resourceslice/..."}},
	{name: "stern", kind: "a command that follows logs", module: "github.com/stern/stern", version: "v1.33.0"},
	{name: "external-provisioner", kind: "the library of provisioners of volumes", version: "v13.1.0",
		module: "sigs.k8s.io/sig-storage-lib-external-provisioner/v13"},
	{name: "vertical-pod-autoscaler", kind: "an autoscaler", module: "k8s.io/autoscaler/vertical-pod-autoscaler", version: "v1.8.1",
		build: []string{"./pkg/..."},
		test: []string{"./pkg/admission-controller", "./pkg/recommender/checkpoint", "./pkg/recommender/input/...", "./pkg/target/...",
			"./pkg/updater/...", "./pkg/utils/..."}},
	{name: "istio", kind: "a service mesh: its clients and its library krt, `pkg/kube`", version: "v0.0.0-20260827124520-eed52ebb66ad",
		module: "istio.io/istio",
		build: []string{"./pkg/kube", "./pkg/kube/controllers", "./pkg/kube/kclient/...", "./pkg/kube/krt/...", "./pkg/kube/multicluster",
			"./pkg/kube/watcher/..."}},
	{name: "wrangler", kind: "Rancher's library of controllers", module: "github.com/rancher/wrangler/v3", version: "v3.8.0",
		build: []string{"./pkg/apply/...", "./pkg/crd", "./pkg/generic/...", "./pkg/leader", "./pkg/needacert", "./pkg/relatedresource", "./pkg/summary/...", "./pkg/clients", "./pkg/generated/controllers/core/..."}},
	{name: "flux", kind: "a GitOps engine: its server-side apply", module: "github.com/fluxcd/pkg/ssa", version: "v0.78.0", servers: true},
	{name: "contour", kind: "an ingress: its provisioner and what it makes of objects", module: "github.com/projectcontour/contour", version: "v1.33.8",
		build: []string{"./internal/dag", "./internal/k8s", "./internal/leadership", "./internal/provisioner/..."}},
	{name: "velero", kind: "a backup tool", module: "github.com/vmware-tanzu/velero", version: "v1.18.3",
		build: []string{"./internal/hook", "./internal/resourcemodifiers", "./pkg/backup", "./pkg/client", "./pkg/discovery", "./pkg/nodeagent",
			"./pkg/podexec", "./pkg/restore", "./pkg/util/kube"},
		// The tests of the other packages do not compile with k8s.io/apimachinery v0.37.
		test: []string{"./internal/resourcemodifiers", "./pkg/client", "./pkg/nodeagent"}},
	{name: "external-snapshotter", kind: "the controllers of volume snapshots", module: "github.com/kubernetes-csi/external-snapshotter/v8", version: "v8.7.0",
		build: []string{"./pkg/..."}},
}
