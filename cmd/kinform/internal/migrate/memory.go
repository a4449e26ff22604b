package migrate

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"strings"
)

// remembered is the comment at the line of migrate that has versions from before.
var remembered = regexp.MustCompile(`(?m)^((?:replace\s+|\t)` + regexp.QuoteMeta(clientGo) + `\s+=>\s.*?)[ \t]*// kinform migrate: had (.*)$`)

// plain is the line of migrate without a comment.
var plain = regexp.MustCompile(`(?m)^((?:replace\s+|\t)` + regexp.QuoteMeta(clientGo) + `\s+=>\s[^\n]*?)[ \t]*$`)

// absent is how the comment writes that go.mod had no such line, or has none any more.
const absent = "none"

// versionChange is that of a version in go.mod: of a module, of Go, or of Go's toolchain.
type versionChange struct{ of, had, has string }

func (c versionChange) String() string { return c.of + " " + c.had + " -> " + c.has }

// edit returns the flag of go mod edit that takes the change back.
func (c versionChange) edit() string {
	switch {
	case c.of == "go", c.of == "toolchain":
		return "-" + c.of + "=" + c.had
	case c.had == absent:
		return "-droprequire=" + c.of
	default:
		return "-require=" + c.of + "@" + c.had
	}
}

// versionOf returns the version that go.mod has of a module, of Go or of Go's toolchain.
func (g goMod) versionOf(name string) string {
	switch name {
	case "go":
		return cmp.Or(g.Go, absent)
	case "toolchain":
		return cmp.Or(g.Toolchain, absent)
	default:
		return cmp.Or(g.version(name), absent)
	}
}

// changes returns the versions of g that are others in now, of modules that only one of them requires as well. kinform is left
// out: undo knows it.
func (g goMod) changes(now goMod) (all []versionChange) {
	names := []string{"go", "toolchain"}
	for _, r := range slices.Concat(g.Require, now.Require) {
		if r.Path != kinform && !slices.Contains(names, r.Path) {
			names = append(names, r.Path)
		}
	}
	for _, name := range names {
		if had, has := g.versionOf(name), now.versionOf(name); had != has {
			all = append(all, versionChange{name, had, has})
		}
	}
	return all
}

// remember writes into a comment at the line of migrate which versions the line has changed, so that undo can set them back.
func (d *draft) remember() error {
	changed := d.m.parsed.changes(d.parsed)
	if len(changed) == 0 {
		return nil
	}
	text, err := os.ReadFile(d.mod())
	if err != nil {
		return err
	}
	if remembered.Match(text) {
		return nil
	}
	texts := make([]string, len(changed))
	for n, c := range changed {
		texts[n] = c.String()
	}
	return overwrite(d.mod(), plain.ReplaceAll(text, []byte("$1 // kinform migrate: had "+strings.Join(texts, ", "))))
}

// had returns the flags of go mod edit that set back what remember has written. A version that somebody has changed since stays, and
// so does a module that the program itself imports by now.
func (m *module) had() ([]string, error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return nil, err
	}
	match := remembered.FindSubmatch(text)
	if match == nil {
		return nil, nil
	}
	var edits []string
	for one := range strings.SplitSeq(string(match[2]), ", ") {
		words := strings.Fields(one) // such as: k8s.io/api v0.36.0 -> v0.37.2
		if len(words) != 4 {
			continue
		}
		c := versionChange{words[0], words[1], words[3]}
		if m.parsed.versionOf(c.of) != c.has || c.had == absent && m.imports(c.of) {
			continue
		}
		edits = append(edits, c.edit())
	}
	return edits, nil
}
