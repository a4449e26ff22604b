package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// clientGoMinor is the minor version of client-go with which kinform is compatible: the 37 of
// v0.37.
const clientGoMinor = 37

// releasedTogether are the modules that are released with client-go and have the same minor
// version.
var releasedTogether = []string{"k8s.io/api", "k8s.io/apimachinery"}

// minorOf returns the minor version, such as 37 for v0.37.2. It returns false for versions of
// another form, and for pseudo-versions.
func minorOf(version string) (int, bool) {
	rest, ok := strings.CutPrefix(version, "v0.")
	if !ok {
		return 0, false
	}
	number, _, ok := strings.Cut(rest, ".")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(number)
	return n, err == nil && n > 0
}

// minorMismatch explains the effects if the module requires a client-go of another minor version
// than kinform's. If the minor versions are equal, it returns "".
func (m *module) minorMismatch() string {
	required := m.required()
	if theirs, ok := minorOf(required); required == "" || ok && theirs == clientGoMinor {
		return ""
	}
	return fmt.Sprintf("%s requires client-go %s, but kinform has the names of v0.%d: if the program does not compile with these names, "+
		"move to v0.%[3]d with client-go first", m.file, required, clientGoMinor)
}

// checkPinnedModules returns an error if the module's go.mod replaces a module by a version that is
// too old for kinform's client-go. The program would not compile.
func (m *module) checkPinnedModules(g goMod) error {
	for _, r := range g.Replace {
		for _, path := range releasedTogether {
			if n, ok := minorOf(r.New.Version); g.replaces(r, path) && ok && n < clientGoMinor {
				return fmt.Errorf("%s replaces %s by a version that is older than v0.%d, for which kinform's client-go is made: remove the line %q first", m.file, path, clientGoMinor, r)
			}
		}
	}
	return nil
}

// newerModules names the modules of client-go's family whose minor version is newer than kinform's.
// If there are none, it returns "". Such a version comes from another requirement of the module.
func (d *draft) newerModules(ctx context.Context) (string, error) {
	out, err := d.m.withoutWorkspace().run(ctx, append([]string{"list", "-mod=mod", "-modfile=" + d.mod(), "-m", "-e", "-json=Path,Version,Replace"}, releasedTogether...)...)
	if err != nil {
		return "", err
	}
	var found []string
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var one struct {
			Path, Version string
			Replace       *requirement
		}
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return "", fmt.Errorf("reading the output of go list: %w", err)
		}
		version := one.Version
		if one.Replace != nil {
			version = one.Replace.Version
		}
		if n, ok := minorOf(version); ok && n > clientGoMinor {
			found = append(found, one.Path+" "+version)
		}
	}
	if found == nil {
		return "", nil
	}
	return fmt.Sprintf("the module builds with %s, but kinform's client-go is made for v0.%d: it has no clients for types of newer versions, and may not compile if a newer version removed a name. "+
		"Use the release of kinform for that version", strings.Join(found, " and "), clientGoMinor), nil
}
