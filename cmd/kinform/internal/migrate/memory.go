package migrate

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"strings"
)

// remembered matches the replace line of migrate with its comment, which records the versions
// before the migration.
var remembered = regexp.MustCompile(`(?m)^((?:replace\s+|\t)` + regexp.QuoteMeta(clientGo) + `\s+=>\s.*?)[ \t]*// kinform migrate: had (.*)$`)

// plain matches the replace line of migrate without a comment.
var plain = regexp.MustCompile(`(?m)^((?:replace\s+|\t)` + regexp.QuoteMeta(clientGo) + `\s+=>\s[^\n]*?)[ \t]*$`)

// absent is the version in the comment if go.mod did not have the requirement before, or does not
// have it now.
const absent = "none"

// versionChange is the change of a version in go.mod: of a module, of Go, or of the toolchain.
type versionChange struct{ of, had, has string }

func (c versionChange) String() string { return c.of + " " + c.had + " -> " + c.has }

// edit returns the flag of go mod edit that reverts the change.
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

// versionOf returns the version that go.mod has for a module, for Go or for the toolchain.
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

// changes returns the versions that differ between g and now, including modules that only one of
// them requires. It skips kinform, which undo handles itself.
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

// remember records the changed versions in a comment at migrate's replace line, so that undo can
// restore them. It merges its versions with the comment of an earlier migration, because undo
// restores the state before all migrations.
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

// merged combines the changes of an earlier and of a later migration. If somebody changed a version
// between the two migrations, undo restores this person's version.
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

// changesIn parses the changes in the comment of a go.mod.
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

// had returns the flags of go mod edit that restore the recorded versions. It skips versions that
// have been changed since, and modules that the program itself imports by now.
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
