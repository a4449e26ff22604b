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

// remember writes into a comment at the line of migrate which versions the line has changed, so that undo can set them back. What the
// comment of an earlier line says is merged: undo goes back to what was before all of them.
func (d *draft) remember() error {
	text, err := os.ReadFile(d.mod())
	if err != nil {
		return err
	}
	changed := merged(changesIn(text), d.m.parsed.changes(d.parsed))
	texts := make([]string, len(changed))
	for n, c := range changed {
		texts[n] = c.String()
	}
	text = remembered.ReplaceAll(text, []byte("$1"))
	if len(texts) > 0 {
		text = plain.ReplaceAll(text, []byte("$1 // kinform migrate: had "+strings.Join(texts, ", ")))
	}
	return overwrite(d.mod(), text)
}

// merged returns the changes that earlier and later ones make together. A version that somebody has set in between is one from before.
func merged(earlier, later []versionChange) (all []versionChange) {
	all = slices.Clone(earlier)
	for _, c := range later {
		at := slices.IndexFunc(all, func(e versionChange) bool { return e.of == c.of })
		switch {
		case at < 0:
			all = append(all, c)
		case all[at].has == c.had:
			all[at].has = c.has
		default:
			all[at] = c
		}
	}
	return slices.DeleteFunc(all, func(c versionChange) bool { return c.had == c.has })
}

// changesIn returns the changes that the comment in a go.mod has.
func changesIn(text []byte) (all []versionChange) {
	match := remembered.FindSubmatch(text)
	if match == nil {
		return nil
	}
	for one := range strings.SplitSeq(string(match[2]), ", ") {
		if words := strings.Fields(one); len(words) == 4 { // such as: k8s.io/api v0.36.0 -> v0.37.2
			all = append(all, versionChange{words[0], words[1], words[3]})
		}
	}
	return all
}

// had returns the flags of go mod edit that set back what remember has written. A version that somebody has changed since stays, and
// so does a module that the program itself imports by now.
func (m *module) had() (edits []string, err error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return nil, err
	}
	for _, c := range changesIn(text) {
		if m.parsed.versionOf(c.of) == c.has && !(c.had == absent && m.imports(c.of)) {
			edits = append(edits, c.edit())
		}
	}
	return edits, nil
}
