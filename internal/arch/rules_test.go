package arch_test

import (
	"fmt"
	"slices"
	"strings"
)

// module is the prefix of the import paths of all modules of this repository.
const module = "github.com/kinform/kinform"

// modules are the folders of the main module, and of the modules that have their own go.mod because
// they link other libraries. The import paths of all these modules begin with the main module's
// path. Therefore the rules treat all packages alike.
var modules = []string{".", "metrics", "tracing", "cmd/kinform", "examples/mirror"}

// rules are the architecture as data. A pattern is a path below the module: "rest" stands for only
// that package, and "rest/..." for the package and all packages below it. The pattern "..." stands
// for every package, and "." for the root.
type rules struct {
	imports []importRule
	bans    []moduleBan
	direct  []directUse
}

// importRule says which public packages of this module a package may link, directly or indirectly.
// For each package, only the first rule counts whose list from matches the package. Internal
// packages may import any package, and any package may import them. The imports of an internal
// package count as imports of its importers.
type importRule struct {
	from   []string
	to     []string
	reason string
}

// moduleBan names a module that only tests may link, and the packages in the list except.
type moduleBan struct {
	module string
	reason string
	except []string
}

// directUse says which packages may import a package directly.
type directUse struct {
	path   string
	by     []string
	reason string
}

var architecture = rules{
	imports: []importRule{
		{
			from:   []string{"listwatch", "indexer", "workqueue"},
			reason: "a leaf is useful alone, and understandable without the others",
		},
		{
			from:   []string{"indexer/internal/..."},
			reason: "the package is understandable without package indexer",
		},
		{
			from: []string{"deltafifo"}, to: []string{"listwatch"},
			reason: "a queue accepts the events of a watch, and is independent of their source and of the store",
		},
		{
			from:   []string{"plain"},
			reason: "a textbook that uses the tuned parts would explain nothing",
		},
		{
			from: []string{"reflector"}, to: []string{"listwatch"},
			reason: "a reflector works with any server and any sink, so it imports only the port",
		},
		{
			from: []string{"rest"}, to: []string{"listwatch", "rest/sharing"},
			reason: "rest is one adapter of the port, useful without informers, and by default objects share equal parts",
		},
		{
			from:   []string{"rest/sharing"},
			reason: "it decodes bytes into objects, independent of their source",
		},
		{
			from: []string{"rest/kubeconfig"}, to: []string{"rest", "listwatch", "rest/sharing", "rest/execauth"},
			reason: "a kubeconfig may name an exec plugin, and needs no other package",
		},
		{
			from: []string{"rest/internal/decode"}, to: []string{"listwatch", "rest/sharing"},
			reason: "it turns bytes into the items and events of the port, and knows nothing of requests",
		},
		{
			from:   []string{"rest/internal/..."},
			reason: "the package is understandable without package rest",
		},
		{
			from: []string{"rest/..."}, to: []string{"rest", "listwatch", "rest/sharing"},
			reason: "a package around rest is linked only if a program imports it, and links no other package",
		},
		{
			from: []string{"lease"}, to: []string{"rest", "listwatch", "rest/sharing"},
			reason: "a lease is an object of the API, and the user decides what a leader does",
		},
		{
			from: []string{"events"}, to: []string{"rest", "listwatch", "rest/sharing"},
			reason: "events are objects of the API, and every program can record them",
		},
		{
			from: []string{"informer"}, to: []string{"reflector", "deltafifo", "indexer", "listwatch", "informer/sources"},
			reason: "informer is the only place where the stages meet, and it takes any source, not only rest",
		},
		{
			from: []string{"informer/sources"}, to: []string{"reflector", "indexer", "listwatch"},
			reason: "a source that combines others is a source, and independent of informers",
		},
		{
			from: []string{"informer/enqueue"}, to: []string{"informer", "reflector", "deltafifo", "indexer", "listwatch", "informer/sources", "workqueue"},
			reason: "handlers that fill a queue import both, so that neither informer nor workqueue imports the other",
		},
		{
			from: []string{"informer/..."}, to: []string{"informer", "reflector", "deltafifo", "indexer", "listwatch", "informer/sources"},
			reason: "a package around informer is linked only if a program imports it, and links no other package",
		},
		{
			from:   []string{"apitest/..."},
			reason: "a server that shares code with the client would share its mistakes, and tests would not see them",
		},
		{
			from:   []string{"."},
			reason: "the root is documentation; a program that imports it must not link everything",
		},
		{
			from: []string{"controller/...", "metrics", "tracing", "view/...", "cmd/...", "compat/...", "examples/...", "internal/..."}, to: []string{"..."},
			reason: "these stand on top of the library",
		},
	},
	bans: []moduleBan{
		{module: "k8s.io/client-go", reason: "kinform replaces it, and is measured against it from a module of its own"},
		{module: "sigs.k8s.io/controller-runtime", reason: "it brings client-go, and is measured against from a module of its own"},
		{module: "github.com/stretchr/testify", reason: "test helpers must not reach the programs of users"},
		{module: "go.uber.org/goleak", reason: "test helpers must not reach the programs of users"},
		{module: "github.com/prometheus", reason: "only a program that imports metrics pays for Prometheus' client", except: []string{"metrics", "examples/mirror"}},
		{module: "charm.land", reason: "only the command draws on a terminal", except: []string{"cmd/kinform/..."}},
		{module: "github.com/charmbracelet", reason: "only the command draws on a terminal", except: []string{"cmd/kinform/..."}},
		{module: "github.com/creack/pty", reason: "only tests make pseudo-terminals"},
		{module: "go.opentelemetry.io", reason: "only a program that imports tracing pays for OpenTelemetry", except: []string{"tracing"}},
	},
	direct: []directUse{
		{
			path: "net/http", by: []string{"rest/...", "plain", "internal/testing/conformance/plain", "apitest/...", "controller", "view/...", "cmd/...", "examples/..."},
			reason: "HTTP is the business of the adapter, so that the core works with any source",
		},
	},
}

// goPackage has the facts about a package that the rules need, under the names that go list uses.
// It does not have the files and imports of tests.
type goPackage struct {
	ImportPath string
	Doc        string
	GoFiles    []string
	Imports    []string
	Deps       []string // direct and indirect
}

// violations returns one sentence for each violation of the rules.
func (r rules) violations(packages []goPackage) []string {
	var found []string
	report := func(reason, format string, args ...any) {
		found = append(found, fmt.Sprintf(format, args...)+", because "+reason)
	}
	for _, p := range packages {
		if len(p.GoFiles) == 0 {
			continue // The package has only tests.
		}
		if p.Doc == "" {
			report("readers begin with the package comment", "%s must have a package comment", p.ImportPath)
		}
		r.checkImports(p, report)
		for _, b := range r.bans {
			i := slices.IndexFunc(p.Deps, func(d string) bool { return below(d, b.module) })
			if i >= 0 && !matchesAny(relative(p.ImportPath), b.except) {
				report(b.reason, "%s links %s: nothing but %s may link %s", p.ImportPath, p.Deps[i], strings.Join(append([]string{"tests"}, b.except...), ", "), b.module)
			}
		}
		for _, d := range r.direct {
			if slices.Contains(p.Imports, d.path) && !matchesAny(relative(p.ImportPath), d.by) {
				report(d.reason, "%s imports %s: only %s may do so", p.ImportPath, d.path, strings.Join(d.by, ", "))
			}
		}
	}
	r.checkImportRulesAreUsed(packages, report)
	return found
}

type reporter func(reason, format string, args ...any)

// checkImports checks that a package links only packages of this module that its import rule
// allows.
func (r rules) checkImports(p goPackage, report reporter) {
	from := relative(p.ImportPath)
	i := slices.IndexFunc(r.imports, func(a importRule) bool { return matchesAny(from, a.from) })
	if i < 0 {
		report("each package has a place in the architecture", "%s needs an import rule", p.ImportPath)
		return
	}
	a := r.imports[i]
	for _, dep := range p.Deps {
		to := relative(dep)
		if !below(dep, module) || isInternal(to) || matchesAny(to, a.to) {
			continue
		}
		verb := "reaches"
		if slices.Contains(p.Imports, dep) {
			verb = "imports"
		}
		allowed := "no public package of this module"
		if len(a.to) > 0 {
			allowed = "only " + strings.Join(a.to, ", ")
		}
		report(a.reason, "%s %s %s: %s may link %s", p.ImportPath, verb, dep, strings.Join(a.from, ", "), allowed)
	}
}

// checkImportRulesAreUsed checks that each import rule allows only packages that some package
// links.
func (r rules) checkImportRulesAreUsed(packages []goPackage, report reporter) {
	for _, a := range r.imports {
		for _, to := range a.to {
			used := to == "..." || slices.ContainsFunc(packages, func(p goPackage) bool {
				return matchesAny(relative(p.ImportPath), a.from) && slices.Contains(p.Deps, module+"/"+to)
			})
			if !used {
				report("the rules must describe the code", "the import rule from %s to %s is not used: remove it", strings.Join(a.from, ", "), to)
			}
		}
	}
}

// relative returns a package's path below the module, or "." for the root.
func relative(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

// below reports whether path is parent or below it.
func below(path, parent string) bool {
	return path == parent || strings.HasPrefix(path, parent+"/")
}

func isInternal(path string) bool { return slices.Contains(strings.Split(path, "/"), "internal") }

func matchesAny(path string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		parent, tree := strings.CutSuffix(pattern, "/...")
		return pattern == "..." || path == parent || (tree && below(path, parent))
	})
}
