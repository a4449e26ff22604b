package migrate

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"strings"
)

// recordedLine matches the replace directive of migrate with its comment, which records the
// versions before the migration.
var recordedLine = regexp.MustCompile(`(?m)^((?:replace\s+|\t)` + regexp.QuoteMeta(clientGo) + `\s+=>\s.*?)[ \t]*// kinform migrate: had (.*)$`)

// replaceLine matches the replace directive of migrate without a comment.
var replaceLine = regexp.MustCompile(`(?m)^((?:replace\s+|\t)` + regexp.QuoteMeta(clientGo) + `\s+=>\s[^\n]*?)[ \t]*$`)

// absent is the version in the comment if go.mod did not have the requirement before, or does not
// have it now.
const absent = "none"

// versionChange is the change of a version in go.mod: of a module, of Go, or of the toolchain.
type versionChange struct{ name, before, after string }

func (c versionChange) String() string { return c.name + " " + c.before + " -> " + c.after }

// edit returns the flag of go mod edit that reverts the change.
func (c versionChange) edit() string {
	switch {
	case c.name == "go", c.name == "toolchain":
		return "-" + c.name + "=" + c.before
	case c.before == absent:
		return "-droprequire=" + c.name
	default:
		return "-require=" + c.name + "@" + c.before
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

// recordVersions records the changed versions in a comment at migrate's replace directive, so that
// undo can restore them. It merges its versions with the comment of an earlier migration, because
// undo restores the state before all migrations.
func (d *draft) recordVersions() error {
	text, err := os.ReadFile(d.mod())
	if err != nil {
		return err
	}
	changed := mergeChanges(parseChanges(text), d.m.parsed.changes(d.parsed))
	texts := make([]string, len(changed))
	for n, c := range changed {
		texts[n] = c.String()
	}
	text = recordedLine.ReplaceAll(text, []byte("$1"))
	if len(texts) > 0 {
		text = replaceLine.ReplaceAll(text, []byte("$1 // kinform migrate: had "+strings.Join(texts, ", ")))
	}
	return overwrite(d.mod(), text)
}

// mergeChanges combines the changes of an earlier and of a later migration. If a user changed a
// version between the two migrations, undo restores the user's version.
func mergeChanges(earlier, later []versionChange) (all []versionChange) {
	all = slices.Clone(earlier)
	for _, c := range later {
		at := slices.IndexFunc(all, func(e versionChange) bool { return e.name == c.name })
		switch {
		case at < 0:
			all = append(all, c)
		case all[at].after == c.before:
			all[at].after = c.after
		default:
			all[at] = c
		}
	}
	return slices.DeleteFunc(all, func(c versionChange) bool { return c.before == c.after })
}

// parseChanges parses the changes in the comment of a go.mod.
func parseChanges(text []byte) (all []versionChange) {
	match := recordedLine.FindSubmatch(text)
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

// undoEdits returns the flags of go mod edit that restore the recorded versions. It skips versions
// that have been changed since, and modules that the program itself imports by now.
func (m *module) undoEdits() (edits []string, err error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return nil, err
	}
	for _, c := range parseChanges(text) {
		if m.parsed.versionOf(c.name) == c.after && !(c.before == absent && m.imports(c.name)) {
			edits = append(edits, c.edit())
		}
	}
	return edits, nil
}
