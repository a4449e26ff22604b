package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

const govulncheck = "golang.org/x/vuln/cmd/govulncheck@v1.9.0"

// findVulnerabilities runs govulncheck on all modules. If its database cannot be reached, it
// returns what was not checked.
func (w *releaseClone) findVulnerabilities(ctx context.Context, database string) (unchecked string, err error) {
	for _, folder := range folders {
		said, err := output(ctx, filepath.Join(w.clone, folder), w.env, "go", "run", govulncheck, "-db="+database, "./...")
		if err != nil {
			_, reason, unreachable := strings.Cut(err.Error(), "fetching vulnerabilities: ")
			if !unreachable {
				return "", err
			}
			reason, _, _ = strings.Cut(reason, "\n")
			return "vulnerabilities, because govulncheck cannot read its database: " + reason, nil
		}
		fmt.Printf("govulncheck of %s: %s\n", moduleOf(folder), said)
	}
	return "", nil
}
