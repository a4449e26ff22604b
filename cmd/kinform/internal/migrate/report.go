package migrate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// report is the result of compiling a module.
type report struct {
	packages int // number of the module's own packages
	compiled int // number of the module's packages that compiled with their tests
	others   int // number of compiled packages of other modules
	findings []finding
}

// finding is a place with a compile error.
type finding struct {
	file        string
	line        int
	message     string
	otherModule string // the package with the error, if it belongs to another module
	raised      string // raised versions of modules that the file imports
}

// compile compiles all packages of the module with their tests, and their imports. It does not link
// anything.
func compile(ctx context.Context, m *module, raised []raisedVersion) (*report, error) {
	args := m.list("-v", "-e", "-test", "-deps", "-export", "-json=ImportPath,Export,Error,Standard,ForTest,DepOnly,GoFiles,CgoFiles")
	out, err := m.run(ctx, append(args, "./...")...)
	if err != nil {
		return nil, err
	}
	r := &report{}
	own := map[string]bool{} // whether the package and its tests compiled
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading the output of go list: %w", err)
		}
		// A package that has only tests has no export data.
		compiled := p.Export != "" || p.Error == nil && len(p.GoFiles)+len(p.CgoFiles) == 0
		switch {
		case p.DepOnly && p.ForTest == "" && !p.Standard && compiled:
			r.others++
		case p.DepOnly:
		case p.ForTest != "":
			own[p.ForTest] = own[p.ForTest] && compiled
		case !strings.HasSuffix(p.ImportPath, ".test"):
			own[p.ImportPath] = compiled // the variant with tests follows
		}
		if p.Error != nil {
			r.add(p)
		}
	}
	r.packages = len(own)
	for _, compiled := range own {
		if compiled {
			r.compiled++
		}
	}
	slices.SortFunc(r.findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.otherModule, b.otherModule), cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.message, b.message))
	})
	r.findings = slices.Compact(r.findings)
	for i, f := range r.findings {
		r.findings[i].raised = m.raisedIn(f, raised)
	}
	return r, nil
}

// raisedIn describes the raised versions of modules that the file of a finding imports. It returns
// "" if there are none.
func (m *module) raisedIn(f finding, raised []raisedVersion) string {
	file := f.file
	if !filepath.IsAbs(file) {
		file = filepath.Join(m.dir, file)
	}
	var all []string
	for _, c := range suspects(f, file, raised) {
		all = append(all, fmt.Sprintf("%s, which the line has raised from %s to %s", c.name, c.before, c.after))
	}
	return strings.Join(all, ", and ")
}

// listedPackage has the used parts of a package in the output of go list -json.
type listedPackage struct {
	ImportPath string
	Export     string // file with the compiled package
	ForTest    string
	DepOnly    bool
	Standard   bool
	GoFiles    []string
	CgoFiles   []string
	Error      *struct{ Pos, Err string }
}

// position matches a compiler error that has a place: file:line:column: text.
var position = regexp.MustCompile(`^(.+?\.go):(\d+)(?::\d+)?: (.*)$`)

// add collects the places from the error of a package. Each line of the compiler is one place.
func (r *report) add(p listedPackage) {
	elsewhere := ""
	if p.DepOnly && !strings.HasPrefix(p.ImportPath, clientGo+"/") {
		// If kinform lacks the package, its importer has the error.
		elsewhere, _, _ = strings.Cut(p.ImportPath, " ")
	}
	before := len(r.findings)
	for line := range strings.Lines(p.Error.Pos + ": " + p.Error.Err) {
		line = strings.TrimPrefix(strings.TrimSpace(line), ": ")
		if match := position.FindStringSubmatch(line); match != nil {
			number, _ := strconv.Atoi(match[2])
			r.findings = append(r.findings, finding{file: strings.TrimPrefix(match[1], "./"), line: number, message: match[3], otherModule: elsewhere})
		}
	}
	if len(r.findings) == before {
		r.findings = append(r.findings, finding{file: p.ImportPath, message: strings.TrimSpace(p.Error.Err), otherModule: elsewhere})
	}
}

func (r *report) print(w io.Writer) {
	of := ""
	if r.compiled < r.packages {
		of = fmt.Sprintf("%d of ", r.compiled)
	}
	fmt.Fprintf(w, "%s%s compiled with %s tests, and %s of other modules\n",
		of, plural(r.packages, "package"), possessive(r.packages), plural(r.others, "package"))
	for _, f := range r.findings {
		place := f.file
		if f.line > 0 {
			place += ":" + strconv.Itoa(f.line)
		}
		if f.otherModule != "" {
			place += " (" + f.otherModule + ")"
		}
		fmt.Fprintf(w, "%s: %s\n    %s\n", place, f.message, f.advice())
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func possessive(n int) string {
	if n == 1 {
		return "its"
	}
	return "their"
}

// advice returns what to do about a finding.
func (f finding) advice() string {
	switch {
	case strings.Contains(f.message, clientGo+"/") && (strings.Contains(f.message, "package") || strings.Contains(f.message, "import")):
		return "kinform does not have this package: see the table in clientgo/README.md, and stay with client-go if the program needs this package"
	case f.raised != "":
		return "the file imports " + f.raised + ": adapt the file to that version, or keep the old version by a replace line"
	case f.otherModule != "":
		return "a library needs this: use a version of the library that was made for client-go v0." + strconv.Itoa(clientGoMinor) + ", or stay with client-go"
	case strings.Contains(f.message, "undefined"):
		return "kinform, or client-go v0." + strconv.Itoa(clientGoMinor) + ", does not have this name: the table in clientgo/README.md lists replacements"
	default:
		return "the types differ from the types that the program was written for: see the table of differences in clientgo/README.md"
	}
}
