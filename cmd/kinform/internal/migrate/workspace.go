package migrate

import (
	"context"
	"encoding/json"
	"fmt"
)

// list returns the arguments of a go list. The command may add missing lines to go.mod and go.sum.
// In a workspace, the command must not change these files, and missing sums go to go.work.sum.
func (m *module) list(args ...string) []string {
	if m.work == "" {
		args = append([]string{"-mod=mod"}, args...)
	}
	return append([]string{"list"}, args...)
}

// checkWorkspace returns an error if a workspace replaces client-go, because go.work overrides
// go.mod.
func (m *module) checkWorkspace(ctx context.Context) error {
	if m.work == "" {
		return nil
	}
	out, err := m.run(ctx, "work", "edit", "-json")
	if err != nil {
		return err
	}
	var work struct{ Replace []replacement }
	if err := json.Unmarshal(out, &work); err != nil {
		return fmt.Errorf("reading %s: %w", m.work, err)
	}
	for _, r := range work.Replace {
		if m.parsed.replaces(r, clientGo) {
			return fmt.Errorf("%s replaces client-go for all of its modules: remove the line %q first", m.work, r)
		}
	}
	return nil
}

// workspaceHint returns a hint if the module is in a workspace, because go mod tidy ignores the
// workspace.
func (m *module) workspaceHint() string {
	if m.work == "" {
		return ""
	}
	return fmt.Sprintf("\n(the module is in the workspace %s, whose other modules go mod tidy does not see: "+
		"during the migration, replace them in go.mod by their folders)", m.work)
}
