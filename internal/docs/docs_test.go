package docs

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/testing/testsize"
)

// assumedDeclarations lists the fragments that use names without declaring them. Each value
// declares these names, as parameters of a function around the fragment.
var assumedDeclarations = map[string]string{
	`docs/packages.md: websites := rest.ResourceOptions{Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "websites"}, Kind: "Website"}`: "client *rest.Client",
	"apitest/doc.go: srv := apitest.Start(t, apitest.Options{})":                                                                                                   "t *testing.T, pod *corev1.Pod",
	"docs/coming-from-client-go.md: connection, err := kubeconfig.Load(kubeconfig.Options{})":                                                                      "ctx context.Context",
	`docs/coming-from-client-go.md: onNode, err := rest.For[*corev1.Pod](client, rest.ResourceOptions{Namespace: "shop", FieldSelector: "spec.nodeName=" + node})`: "ctx context.Context, client *rest.Client, node string, work func(context.Context) error",
	"docs/coming-from-client-go.md: open := func(s informer.Selection) (listwatch.Source[*corev1.Pod], error) {":                                                   "ctx context.Context, client *rest.Client, handle func(informer.Event[*corev1.Pod]), work func(context.Context) error",
	"docs/coming-from-client-go.md: registration, err := inf.AddHandler(func(e informer.Event[*corev1.Pod]) {":                                                     "inf *informer.Informer[*corev1.Pod]",
	`docs/coming-from-client-go.md: lister := indexer.NewLister(inf.Store(), corev1.Resource("pods"), nil)`:                                                        "inf *informer.Informer[*corev1.Pod]",
	"docs/coming-from-client-go.md: byNode := func(pod *corev1.Pod) ([]string, error) { return []string{pod.Spec.NodeName}, nil }":                                 "inf *informer.Informer[*corev1.Pod]",
	`docs/coming-from-client-go.md: queue := workqueue.New(workqueue.Options[types.NamespacedName]{Name: "pods"})`:                                                 "ctx context.Context, inf *informer.Informer[*corev1.Pod], reconcile func(context.Context, *corev1.Pod) error",
	"docs/coming-from-client-go.md: for {": "ctx context.Context, queue *workqueue.Queue[types.NamespacedName], work func(ctx context.Context, key types.NamespacedName) error",
	"docs/coming-from-client-go.md: elector, err := lease.New(client, types.NamespacedName{Namespace: \"shop\", Name: \"greeter\"}, lease.Options{})":        "ctx context.Context, client *rest.Client, work func(context.Context) error",
	`docs/coming-from-client-go.md: recorder, err := events.New(client, "example.com/greeter", events.Options{})`:                                            "ctx context.Context, client *rest.Client, pod *corev1.Pod, name string",
	"docs/coming-from-client-go.md: limiter := workqueue.MaxOf(":                                                                                             "",
	"docs/coming-from-client-go.md: for attempt := 1; ; attempt++ {":                                                                                         "ctx context.Context, deployments *rest.Resource[*appsv1.Deployment], key types.NamespacedName, replicas int32",
	"docs/coming-from-client-go.md: patch := []byte(`{\"spec\":{\"replicas\":3}}`)":                                                                          "ctx context.Context, deployments *rest.Resource[*appsv1.Deployment], configMaps *rest.Resource[*corev1.ConfigMap], key types.NamespacedName",
	"docs/coming-from-client-go.md: sites, err := rest.For[*unstructured.Unstructured](client, rest.ResourceOptions{Resource: gvr})":                         "client *rest.Client, gvr schema.GroupVersionResource",
	"docs/coming-from-client-go.md: slim, err := rest.For[*corev1.Pod](client, rest.ResourceOptions{Project: rest.Omit{ManagedFields: true, Status: true}})": "client *rest.Client",
	"docs/coming-from-client-go.md: type image struct{ name, node string }":                                                                                  "",
	"docs/coming-from-client-go.md: registration, err := inf.AddHandler(handle, informer.HandlerOptions{Resync: 10 * time.Minute})":                          "inf *informer.Informer[*corev1.Pod], handle func(informer.Event[*corev1.Pod])",
	"docs/coming-from-client-go.md: server := apitest.Start(t, apitest.Options{})":                                                                           "t *testing.T",
	"docs/coming-from-client-go.md: ready, err := await.Until(ctx, inf.Store(), key, await.PodReady[*corev1.Pod]())":                                         "ctx context.Context, inf *informer.Informer[*corev1.Pod], key types.NamespacedName",
	"docs/controllers.md: type Team struct {":                                                                                                                "",
	"docs/controllers.md: teams := controller.For[*Team](m, rest.ResourceOptions{":                                                                           "m *controller.Manager",
	"docs/controllers.md: server := apitest.New(apitest.Options{Resources: []apitest.Resource{":                                                              "",
	"docs/metrics.md: collected, err := metrics.New(metrics.Options{})":                                                                                      "config rest.Config",
	"docs/metrics.md: traced, err := tracing.New(provider, tracing.Options{})":                                                                               "provider trace.TracerProvider, config rest.Config, registry *prometheus.Registry",
	"tracing/doc.go: traced, err := tracing.New(provider, tracing.Options{Ratio: 0.01})":                                                                     "provider trace.TracerProvider, config rest.Config",
	"docs/tracing.md: traced, err := tracing.New(provider, tracing.Options{Ratio: 0.01})":                                                                    "provider trace.TracerProvider, config rest.Config",
	"informer/profile/profile.go: pods, err := informer.New(source, informer.Options[*corev1.Pod]{Goroutine: profile.Labels})":                               "source listwatch.Source[*corev1.Pod]",
	"view/doc.go: picture, err := view.New(view.Options{})":                                                                                                  "source listwatch.Source[*corev1.Pod]",
	"view/lab/doc.go: l, err := lab.New(lab.Options{})":                                                                                                      "ctx context.Context",
	"docs/view.md: picture, err := view.New(view.Options{})":                                                                                                 "source listwatch.Source[*corev1.Pod]",
	"docs/view.md: picture, err := view.New(view.Options{Title: \"websites\"})":                                                                              "client *rest.Client",
	"metrics/doc.go: collected, err := metrics.New(metrics.Options{})":                                                                                       "config rest.Config",
	"listwatch/collect.go: items, err := listwatch.Collect(pods.List(ctx, listwatch.ListOptions{}))":                                                         "ctx context.Context, pods *rest.Resource[*corev1.Pod]",
	"indexer/notify.go: changed, cancel := store.Notify(key)":                                                                                                "store *indexer.Reader[*corev1.Pod], key types.NamespacedName",
	"indexer/changes.go: next := store.Snapshot()":                                                                                                           "store *indexer.Reader[*corev1.Pod], last *indexer.Snapshot[*corev1.Pod]",
	"indexer/snapshot.go: for key, pod := range indexer.Sorted(store.All()) { ... }":                                                                         "store *indexer.Reader[*corev1.Pod]",
	"informer/await/condition.go: await.And(":                                                                                                                "deployment *appsv1.Deployment",
	"informer/await/doc.go: pod, err := await.Until(ctx, pods.Store(), key, await.And(":                                                                      "ctx context.Context, pods *informer.Informer[*corev1.Pod], key types.NamespacedName",
	`informer/doc.go: inf.AddHandler(audit, informer.HandlerOptions{Name: "audit", Overflow: informer.Block})`:                                               "inf *informer.Informer[*corev1.Pod], audit func(informer.Event[*corev1.Pod])",
	"informer/enqueue/doc.go: websites.AddHandler(enqueue.Object[*Website](queue), informer.HandlerOptions{})": "websites *informer.Informer[*Website], deployments *informer.Informer[*appsv1.Deployment], " +
		"queue *workqueue.Queue[types.NamespacedName], websiteKind schema.GroupKind",
	"events/doc.go: recorder, err := events.New(client, \"example.com/websites\", events.Options{})": "ctx context.Context, client *rest.Client, website *Website, pages int, theme string",
	"informer/factory.go: var factory informer.Factory": "ctx context.Context, podsGVR schema.GroupVersionResource, " +
		"open func(informer.Selection) (listwatch.Source[*corev1.Pod], error), options informer.Options[*corev1.Pod]",
	"informer/factory.go: definitions.AddHandler(func(e informer.Event[*metav1.PartialObjectMetadata]) {":                   "definitions *informer.Informer[*metav1.PartialObjectMetadata], factory *informer.Factory",
	"informer/filter.go: inf.AddHandler(informer.Filter(onThisNode, handle), informer.HandlerOptions{})":                    "inf *informer.Informer[*corev1.Pod], onThisNode func(*corev1.Pod) bool, handle func(informer.Event[*corev1.Pod])",
	"informer/predicate/doc.go: handle = predicate.When(predicate.Any(":                                                     "handle func(informer.Event[*appsv1.Deployment])",
	"informer/predicate/predicate.go: predicate.Changed(func(pod *corev1.Pod) corev1.PodPhase { return pod.Status.Phase })": "",
	"informer/run.go: err := informer.Run(ctx, func(ctx context.Context) error {":                                           runs,
	"informer/run.go: work := func(working context.Context) error {":                                                        runs,
	"informer/sources/transform.go: summaries := sources.Transform(pods, func(pod *corev1.Pod) (summary, error) { ... })":   "pods listwatch.Source[*corev1.Pod]",
	`controller/doc.go: m, err := controller.New(client, controller.Options{Name: "websites"})`: "ctx context.Context, client *rest.Client, resource schema.GroupVersionResource, " +
		"reconcile func(context.Context, *Website) (controller.Result, error)",
	`informer/warmstart/doc.go: codec := warmstart.Protobuf[corev1.Pod]()`: "ctx context.Context, pods listwatch.Source[*corev1.Pod]",
	`lease/doc.go: name := types.NamespacedName{Namespace: "default", Name: "greeter"}`: "ctx, stop context.Context, client *rest.Client, " +
		"queue *workqueue.Queue[string], workers int, reconcile func(context.Context, string) error",
	"lease/doc.go: client, err := rest.NewClient(config, rest.Options{Limit: lease.Check})": "config rest.Config",
	"lease/doc.go: elector.RunUntil(ctx, stop, func(lead context.Context) error {": "ctx, stop context.Context, elector *lease.Elector, " +
		"queue *workqueue.Queue[string], workers int, reconcile func(context.Context, string) error",
	"rest/for.go: pods, err := rest.For[*corev1.Pod](client, rest.ResourceOptions{})":       "client *rest.Client",
	`rest/for.go: websites := schema.GroupVersionResource{`:                                 "client *rest.Client",
	"rest/for.go: pods := rest.Must(rest.For[*corev1.Pod](client, rest.ResourceOptions{}))": "client *rest.Client",
	`rest/finalizer/doc.go: pod, gone, err := finalizer.Handle(ctx, pods, cached, "example.com/dns", removeRecord)`: "ctx context.Context, pods *rest.Resource[*corev1.Pod], cached *corev1.Pod, " +
		"removeRecord func(context.Context, *corev1.Pod) error",
	"rest/sharing/doc.go: shared := sharing.New(sharing.Options{MaxBytes: 32 << 20})":                     "client *rest.Client, gvr schema.GroupVersionResource",
	"rest/sharing/doc.go: type Pod struct {":                                                              "",
	"rest/sharing/mutation/doc.go: detector := mutation.New(t)":                                           "t *testing.T, source listwatch.Source[*corev1.Pod]",
	`rest/subresource.go: scales, err := rest.NewSubresource[*autoscalingv1.Scale](deployments, "scale")`: "deployments *rest.Resource[*appsv1.Deployment]",
	"workqueue/doc.go: queue.RunUntil(lead, stop, workers, reconcile)":                                    "queue *workqueue.Queue[string], lead, stop context.Context, workers int, reconcile func(context.Context, string) error",
	"workqueue/park.go: queue.Park(key, func(ctx context.Context) error {":                                "queue *workqueue.Queue[types.NamespacedName], key types.NamespacedName, store *indexer.Reader[*corev1.Pod], written *corev1.Pod",
}

const runs = "ctx context.Context, queue *workqueue.Queue[string], reconcile func(context.Context, string) error, " +
	"pods *informer.Informer[*corev1.Pod], nodes *informer.Informer[*corev1.Node]"

// notCompiled lists the blocks that are not Go, and the Go blocks that cannot be compiled alone.
// Each value is the reason.
var notCompiled = map[string]string{
	"rest/sharing/doc.go: Spec PodSpec `json:\"spec\" protobuf:\"bytes,2,opt,name=spec\"`": "one field of a struct",
	"indexer/internal/versions/source.go: view := s.Enter()":                               "methods that are not exported",
}

// picture matches blocks that are not Go: drawings, formats, formulas and shell commands.
var picture = regexp.MustCompile(`[─│┌►▲]|--> |-{4,}>|^\S+: (go test |go run |make |\(the start\)|8 bytes |pending  |/api/v1/|pods  pod |299 agent|"k8s|WatchEvent\{ |d = min|ready = dirty|processing = those|default/web-1 )`)

// declarations are types that fragments use without declaring them.
const declarations = `package snippets

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type summary struct{ name string }

type Website struct{ metav1.ObjectMeta }

func use(...any) {}
`

// imports are the import paths of package names in fragments.
var imports = map[string]string{
	"context": "context", "errors": "errors", "fmt": "fmt", "slog": "log/slog", "sync": "sync", "testing": "testing", "time": "time",
	"apierrors": "k8s.io/apimachinery/pkg/api/errors", "labels": "k8s.io/apimachinery/pkg/labels", "unstructured": "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured",
	"appsv1": "k8s.io/api/apps/v1", "autoscalingv1": "k8s.io/api/autoscaling/v1", "corev1": "k8s.io/api/core/v1",
	"metav1": "k8s.io/apimachinery/pkg/apis/meta/v1", "schema": "k8s.io/apimachinery/pkg/runtime/schema", "types": "k8s.io/apimachinery/pkg/types",
	"apitest": module + "apitest", "await": module + "informer/await", "enqueue": module + "informer/enqueue", "events": module + "events", "finalizer": module + "rest/finalizer",
	"controller": module + "controller", "indexer": module + "indexer", "informer": module + "informer", "lease": module + "lease", "listwatch": module + "listwatch", "mutation": module + "rest/sharing/mutation",
	"predicate": module + "informer/predicate", "sources": module + "informer/sources", "rest": module + "rest", "sharing": module + "rest/sharing", "warmstart": module + "informer/warmstart",
	"view":    module + "view",
	"lab":     module + "view/lab",
	"metrics": module + "metrics", "prometheus": "github.com/prometheus/client_golang/prometheus", "collectors": "github.com/prometheus/client_golang/prometheus/collectors",
	"tracing": module + "tracing", "trace": "go.opentelemetry.io/otel/trace", "profile": module + "informer/profile",
	"http":      "net/http",
	"promhttp":  "github.com/prometheus/client_golang/prometheus/promhttp",
	"workqueue": module + "workqueue", "discovery": module + "rest/discovery", "kubeconfig": module + "rest/kubeconfig", "reflector": module + "reflector",
}

const module = "github.com/kinform/kinform/"

// The test compiles whole programs unchanged. It puts a fragment into a function, whose parameters
// are the names that assumedDeclarations has for the fragment. "..." in a fragment stands for any
// code.
func TestCodeInCommentsAndPagesCompiles(t *testing.T) {
	t.Parallel()
	testsize.SkipIfShort(t, "hundreds of snippets are compiled")
	files := map[string]string{"snippets/declarations.go": declarations}
	unknown := maps.Clone(assumedDeclarations)
	for name := range maps.Keys(notCompiled) {
		unknown[name] = ""
	}
	for n, b := range blocks(t) {
		given, known := assumedDeclarations[b.key()]
		switch _, without := notCompiled[b.key()]; {
		case strings.HasPrefix(b.text, "package main\n"):
			files[fmt.Sprintf("program%d/main.go", n)] = "// " + b.key() + "\n" + b.text
		case known:
			files[fmt.Sprintf("snippets/snippet%d.go", n)] = fragment(t, n, b, given)
		case without || picture.MatchString(b.text) || picture.MatchString(b.key()):
		default:
			t.Errorf("%s: this code is not compiled: add its undeclared names to assumedDeclarations, or the reason to notCompiled", b.key())
		}
		delete(unknown, b.key())
	}
	for key := range unknown {
		t.Errorf("%s: this code does not exist any more: remove its entry in internal/docs", key)
	}
	compile(t, files)
}

var (
	ellipsis   = regexp.MustCompile(`(?m)^\s*\.\.\.$`)
	loops      = regexp.MustCompile(`for ([\w, ]+) := range (.*) \{ \.\.\. \}`)
	bodies     = regexp.MustCompile(`\{ \.\.\. \}`)
	qualifiers = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.[A-Z]`)
)

// fragment makes a file of a fragment. It leaves declarations unchanged, and puts a function around
// statements.
func fragment(t *testing.T, n int, b block, given string) string {
	code := ellipsis.ReplaceAllString(b.text, "")
	code = loops.ReplaceAllString(code, "for $1 := range $2 { use($1) }")
	code = bodies.ReplaceAllString(code, `{ panic("...") }`)
	body := fmt.Sprintf("func snippet%d(%s) error {\n{\n%s\n%s}\nreturn nil\n}\n", n, given, code, uses(code))
	if strings.HasPrefix(code, "type ") {
		body = code
	}
	var needed strings.Builder
	found := map[string]bool{}
	for _, match := range qualifiers.FindAllStringSubmatch(body, -1) {
		name := match[1]
		parameter := regexp.MustCompile(`(^|, )` + name + `\b`).MatchString(given)
		if path := imports[name]; path != "" && !found[name] && !parameter {
			fmt.Fprintf(&needed, "import %s %q\n", name, path)
			found[name] = true
		}
	}
	return fmt.Sprintf("// %s\npackage snippets\n\n%s\n%s", b.key(), &needed, body)
}

// uses returns code that uses the variables that a fragment declares.
func uses(code string) (all string) {
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {\n"+code+"\n}", 0)
	if err != nil {
		return "" // The compiler reports the error more clearly.
	}
	var names []string
	for _, statement := range file.Decls[0].(*ast.FuncDecl).Body.List {
		if assign, ok := statement.(*ast.AssignStmt); ok && assign.Tok == token.DEFINE {
			for _, left := range assign.Lhs {
				names = append(names, left.(*ast.Ident).Name)
			}
		}
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if name != "_" {
			all += "_ = " + name + "\n"
		}
	}
	return all
}

// compile compiles packages that do not exist on disk. An overlay puts the packages into this
// directory. flags are flags of go build.
func compile(t *testing.T, files map[string]string, flags ...string) {
	t.Helper()
	dir := t.TempDir()
	here, err := os.Getwd()
	require.NoError(t, err)
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	packages := map[string]bool{}
	for name, text := range files {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		overlay.Replace[filepath.Join(here, name)] = file
		packages["./"+filepath.Dir(name)] = true
	}
	list, err := json.Marshal(overlay)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o600))
	require.True(t, len(packages) > 1 || len(flags) > 0, "go build keeps nothing of several packages")
	args := slices.Concat([]string{"build", "-overlay", filepath.Join(dir, "overlay.json")}, flags, slices.Sorted(maps.Keys(packages)))
	said, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		for name, text := range files {
			file := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
			if strings.Contains(string(said), filepath.Base(file)) || strings.Contains(string(said), filepath.Base(name)) {
				t.Logf("%s:\n%s", name, text)
			}
		}
	}
	require.NoError(t, err, "%s", said)
}
