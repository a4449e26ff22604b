package migrate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// report is what compiling a module has found.
type report struct {
	packages int // that were compiled, the module's own
	findings []finding
}

// finding is a place that does not compile.
type finding struct {
	file      string
	line      int
	message   string
	elsewhere string // the package, if it is not the module's own
	todo      string // what to do, if the message does not tell
}

// compile compiles all packages of the module with their tests, and what they import. It links nothing. The flags are for go list.
func compile(ctx context.Context, m *module, flags ...string) (*report, error) {
	args := append(m.list("-e", "-test", "-deps", "-export", "-json=ImportPath,Module,Error,Standard,ForTest,DepOnly"), flags...)
	out, err := m.run(ctx, append(args, "./...")...)
	if err != nil {
		return nil, err
	}
	r := &report{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading the output of go list: %w", err)
		}
		if !p.DepOnly && p.ForTest == "" && !strings.HasSuffix(p.ImportPath, ".test") {
			r.packages++
		}
		if p.Error != nil {
			r.add(p)
		}
	}
	slices.SortFunc(r.findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.elsewhere, b.elsewhere), cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.message, b.message))
	})
	r.findings = slices.Compact(r.findings)
	return r, nil
}

// listed is what of a package of go list -json is used.
type listed struct {
	ImportPath string
	ForTest    string
	DepOnly    bool
	Error      *struct{ Pos, Err string }
}

// position is how the compiler begins a line about a place: file:line:column: text.
var position = regexp.MustCompile(`^(.+?\.go):(\d+)(?::\d+)?: (.*)$`)

// add takes the places from the error of a package: each line of the compiler is one.
func (r *report) add(p listed) {
	elsewhere := ""
	if p.DepOnly && !strings.HasPrefix(p.ImportPath, clientGo+"/") { // a package that kinform lacks is found where it is imported
		elsewhere, _, _ = strings.Cut(p.ImportPath, " ")
	}
	before := len(r.findings)
	for line := range strings.Lines(p.Error.Pos + ": " + p.Error.Err) {
		line = strings.TrimPrefix(strings.TrimSpace(line), ": ")
		if match := position.FindStringSubmatch(line); match != nil {
			number, _ := strconv.Atoi(match[2])
			r.findings = append(r.findings, finding{file: strings.TrimPrefix(match[1], "./"), line: number, message: match[3], elsewhere: elsewhere})
		}
	}
	if len(r.findings) == before {
		r.findings = append(r.findings, finding{file: p.ImportPath, message: strings.TrimSpace(p.Error.Err), elsewhere: elsewhere})
	}
}

func (r *report) print(w io.Writer) {
	if r.packages == 1 {
		fmt.Fprintln(w, "1 package compiled with its tests")
	} else {
		fmt.Fprintf(w, "%d packages compiled with their tests\n", r.packages)
	}
	printFindings(w, r.findings)
}

func printFindings(w io.Writer, findings []finding) {
	for _, f := range findings {
		place := f.file
		if f.line > 0 {
			place += ":" + strconv.Itoa(f.line)
		}
		if f.elsewhere != "" {
			place += " (" + f.elsewhere + ")"
		}
		fmt.Fprintf(w, "%s: %s\n    %s\n", place, f.message, f.advice())
	}
}

// advice says what to do about a finding.
func (f finding) advice() string {
	switch {
	case f.todo != "":
		return f.todo
	case strings.Contains(f.message, clientGo+"/") && (strings.Contains(f.message, "package") || strings.Contains(f.message, "import")):
		return "kinform does not have this package: see the table in clientgo/README.md, and stay with client-go if it is needed"
	case f.elsewhere != "":
		return "a library needs this: take a version of the library that was made for client-go v0." + strconv.Itoa(minor) + ", or stay with client-go"
	case strings.Contains(f.message, "undefined"):
		return "kinform, or client-go v0." + strconv.Itoa(minor) + ", does not have this name: see the table in clientgo/README.md for what takes its place"
	default:
		return "the types differ from those that the program was written for: see the table of differences in clientgo/README.md"
	}
}
