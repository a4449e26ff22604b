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
func (w *workshop) findVulnerabilities(ctx context.Context, database string) (unchecked string, err error) {
	for _, folder := range folders {
		said, err := output(ctx, filepath.Join(w.clone, folder), w.env, "go", "run", govulncheck, "-db="+database, "./...")
		if err != nil && strings.Contains(err.Error(), "fetching vulnerabilities: ") {
			return fmt.Sprintf("vulnerabilities, because govulncheck cannot read its database %s. Its error: %v", database, err), nil
		}
		if err != nil {
			return "", err
		}
		fmt.Printf("govulncheck of %s: %s\n", moduleOf(folder), said)
	}
	return "", nil
}
