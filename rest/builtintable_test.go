package rest

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/internal/testing/testsize"
)

// TestBuiltinTypesMatchTheGeneratedClients reads the sources of k8s.io/api: tags in comments name
// the types with generated clients, and the types without namespaces.
func TestBuiltinTypesMatchTheGeneratedClients(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "*", "*", "types.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	declaration := regexp.MustCompile(`(?m)((?:^//.*\n|^\n)+)^type (\w+) struct`)
	client := regexp.MustCompile(`(?m)^// ?\+genclient$`)
	group := regexp.MustCompile(`GroupName\s*= "(.*)"`)
	types := 0
	for _, file := range testsize.Sample(files, 3) {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		register, err := os.ReadFile(filepath.Join(filepath.Dir(file), "register.go"))
		require.NoError(t, err)
		for _, d := range declaration.FindAllStringSubmatch(string(source), -1) {
			if !client.MatchString(d[1]) || strings.Contains(d[1], "+genclient:noVerbs") {
				continue // noVerbs marks the type of a subresource, or of a webhook
			}
			folder := filepath.Base(filepath.Dir(filepath.Dir(file)))
			gvk := schema.GroupVersionKind{Group: group.FindStringSubmatch(string(register))[1], Version: filepath.Base(filepath.Dir(file)), Kind: d[2]}
			_, namespaced, ok := Builtin(gvk)
			require.True(t, ok, "%s", gvk)
			require.Equal(t, !strings.Contains(d[1], "+genclient:nonNamespaced"), namespaced, "%s", gvk)
			require.Contains(t, builtins, "\n"+folder+" "+cmp.Or(gvk.Group, "-")+" ")
			types++
		}
	}
	require.Greater(t, types, testsize.Scale(140, 40))
}
