package migrate

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// raisedVersion is a version that is raised because of the replace directive, with the reason.
type raisedVersion struct {
	versionChange
	reason string
}

// raised returns the modules whose versions are newer in the draft than in go.mod, and Go if its
// version is newer. A go.mod lists every module whose packages are compiled.
func (d *draft) raised(ctx context.Context) ([]raisedVersion, error) {
	changed := slices.DeleteFunc(d.m.parsed.changes(d.parsed), func(c versionChange) bool { return c.before == absent || c.after == absent })
	if len(changed) == 0 {
		return nil, nil
	}
	graph, err := d.m.withoutWorkspace().run(ctx, "mod", "graph", "-modfile="+d.mod())
	if err != nil {
		return nil, err
	}
	var all []raisedVersion
	for _, c := range changed {
		all = append(all, raisedVersion{c, requiredBy(string(graph), c)})
	}
	return all, nil
}

// requiredBy returns a module in the graph that requires the new version of a change. If several
// modules do, it prefers kinform's replacement of client-go, and then kinform itself.
func requiredBy(graph string, c versionChange) string {
	var by []string
	for line := range strings.Lines(graph) {
		from, to, found := strings.Cut(strings.TrimSpace(line), " ")
		if found && to == c.name+"@"+c.after && strings.Contains(from, "@") {
			// The module itself has no version.
			by = append(by, from)
		}
	}
	for _, ours := range []struct{ path, name string }{{clientGo, "kinform's client-go"}, {kinform, "kinform"}} {
		if slices.ContainsFunc(by, func(one string) bool { return strings.HasPrefix(one, ours.path+"@") }) {
			return ours.name + " requires it"
		}
	}
	if len(by) == 0 {
		return "go mod tidy selects it"
	}
	slices.Sort(by)
	return strings.Replace(by[0], "@", " ", 1) + " requires it"
}

// undefined matches the package name in the compiler's error about an undefined name.
var undefined = regexp.MustCompile(`^undefined: (\w+)\.`)

// suspects returns the raised versions that may be the cause of a compile error: versions of
// modules that the file imports.
func suspects(f finding, file string, raised []raisedVersion) []raisedVersion {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	name := ""
	if match := undefined.FindStringSubmatch(f.message); match != nil {
		name = match[1]
	}
	var found []raisedVersion
	for _, spec := range parsed.Imports {
		its := path.Base(importPath(spec))
		if spec.Name != nil {
			its = spec.Name.Name
		}
		if name != "" && its != name {
			continue
		}
		for _, r := range raised {
			if p := importPath(spec); r.name != clientGo && r.name != kinform && (p == r.name || strings.HasPrefix(p, r.name+"/")) && !slices.Contains(found, r) {
				found = append(found, r)
			}
		}
	}
	return found
}

// importPath returns the path of an import.
func importPath(spec *ast.ImportSpec) string {
	path, _ := strconv.Unquote(spec.Path.Value)
	return path
}
