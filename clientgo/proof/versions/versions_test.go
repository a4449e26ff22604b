package versions

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

const (
	kinform = "github.com/kinform/kinform"
	client  = "k8s.io/client-go"
	version = "v0.37.2" // the version of client-go for which clientgo stands
)

// programKind is a kind of program that uses kinform.
type programKind struct {
	requires []string // modules of kinform that the program requires
	dropin   bool     // whether it has the replace directive for client-go
	// raised maps each module whose version is raised, with the new version, to the reason.
	raised map[string]string
	// added maps each module that is added to the reason.
	added map[string]string
}

const (
	reasonPrometheus    = "Prometheus' client requires it, at the version that k8s.io/component-base v0.37 requires"
	reasonOpenTelemetry = "OpenTelemetry requires it, at the version that k8s.io/component-base v0.37 requires"
)

// programKinds are the kinds of programs. A raised version may break a program that does not need
// it. The core and clientgo raise no versions. Every other raised version must have a reason.
var programKinds = map[string]programKind{
	"core": {requires: []string{""}},
	// go mod tidy adds kinform, whose packages clientgo imports
	"line":       {requires: []string{""}, dropin: true},
	"controller": {requires: []string{""}}, // package controller is in the main module
	"metrics": {requires: []string{"", "/metrics"}, added: map[string]string{
		"github.com/beorn7/perks v1.0.1":              reasonPrometheus,
		"github.com/cespare/xxhash/v2 v2.3.0":         reasonPrometheus,
		"github.com/prometheus/client_golang v1.24.0": reasonPrometheus,
		"github.com/prometheus/client_model v0.6.2":   reasonPrometheus,
		"github.com/prometheus/common v0.70.0":        reasonPrometheus,
		"github.com/prometheus/procfs v0.21.1":        reasonPrometheus,
	}},
	"tracing": {requires: []string{"", "/tracing"}, added: map[string]string{
		"github.com/cespare/xxhash/v2 v2.3.0": reasonOpenTelemetry, "github.com/go-logr/stdr v1.2.2": reasonOpenTelemetry,
		"go.opentelemetry.io/auto/sdk v1.2.1": reasonOpenTelemetry, "go.opentelemetry.io/otel v1.44.0": reasonOpenTelemetry,
		"go.opentelemetry.io/otel/metric v1.44.0": reasonOpenTelemetry, "go.opentelemetry.io/otel/trace v1.44.0": reasonOpenTelemetry,
		"go.opentelemetry.io/otel/sdk v1.44.0": "tests require it, at the version that k8s.io/component-base v0.37 requires",
	}},
}

// If a program requires exactly what client-go requires, adding kinform raises no version.
func TestWhichVersionsKinformRaises(t *testing.T) {
	before := selected(t, program(t, programKind{}))
	require.Equal(t, version, before[client])
	for name, c := range programKinds {
		t.Run(name, func(t *testing.T) {
			after := selected(t, program(t, c))
			raised, added := map[string]string{}, map[string]string{}
			for path, has := range after {
				switch had := before[path]; {
				case path == kinform || strings.HasPrefix(path, kinform+"/"):
				case had == "":
					added[path+" "+has] = "the program did not require it before"
				case semver.Compare(has, had) > 0:
					raised[path+" "+has] = "it was " + had
				}
			}
			requireReasons(t, raised, c.raised)
			requireReasons(t, added, c.added)
			for path := range before {
				require.Contains(t, after, path)
			}
		})
	}
}

// requireReasons compares the changes with the reasons.
func requireReasons(t *testing.T, changed, reasons map[string]string) {
	t.Helper()
	for _, module := range slices.Sorted(maps.Keys(changed)) {
		if reasons[module] == "" {
			t.Errorf("%s: %s. Require in kinform's go.mod what client-go %s requires, or write the reason here", module, changed[module], version)
		}
	}
	for module, reason := range reasons {
		require.NotEmpty(t, changed[module], "%s has a reason (%s), but its version is unchanged", module, reason)
	}
}

// program writes a module that requires client-go, its requirements, and modules of this checkout.
func program(t *testing.T, c programKind) (dir string) {
	t.Helper()
	theirs, err := modfile.Parse("go.mod", goMod(t), nil)
	require.NoError(t, err)
	mod := new(modfile.File)
	require.NoError(t, mod.AddModuleStmt("example.com/program"))
	require.NoError(t, mod.AddGoStmt(theirs.Go.Version))
	for _, r := range theirs.Require {
		require.NoError(t, mod.AddRequire(r.Mod.Path, r.Mod.Version))
	}
	require.NoError(t, mod.AddRequire(client, version))
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	for _, below := range c.requires {
		require.NoError(t, mod.AddRequire(kinform+below, "v0.0.0"))
	}
	for _, below := range []string{"", "/metrics", "/tracing"} {
		require.NoError(t, mod.AddReplace(kinform+below, "", filepath.Join(root, below), ""))
	}
	if c.dropin {
		require.NoError(t, mod.AddReplace(client, "", filepath.Join(root, "clientgo"), ""))
	}
	text, err := mod.Format()
	require.NoError(t, err)
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), text, 0o644))
	return dir
}

// goMod returns the content of client-go's go.mod.
func goMod(t *testing.T) []byte {
	t.Helper()
	file := strings.TrimSpace(run(t, ".", "go", "mod", "download", "-json", client+"@"+version))
	_, file, found := strings.Cut(file, `"GoMod": "`)
	require.True(t, found)
	file, _, _ = strings.Cut(file, `"`)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return text
}

// selected returns the version of each module that version selection chooses for a program. It
// leaves out the program itself.
func selected(t *testing.T, dir string) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for line := range strings.Lines(run(t, dir, "go", "list", "-m", "-f", "{{if not .Main}}{{.Path}} {{.Version}}{{end}}", "all")) {
		if words := strings.Fields(line); len(words) == 2 {
			versions[words[0]] = words[1]
		}
	}
	require.Greater(t, len(versions), 30)
	return versions
}

// run runs a command in a folder and returns its output.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s\n%s", strings.Join(cmd.Args, " "), &stderr)
	return string(out)
}

// vpaLikeProgram is code such as vertical-pod-autoscaler, descheduler and others have. Up to
// client_golang v1.24, Query and QueryRange have three results.
const vpaLikeProgram = `package main

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/api"
	prometheus "github.com/prometheus/client_golang/api/prometheus/v1"
	"k8s.io/client-go/util/flowcontrol"
)

func main() {
	client, err := api.NewClient(api.Config{Address: "http://127.0.0.1:9090"})
	if err != nil {
		panic(err)
	}
	history := prometheus.NewAPI(client)
	value, warnings, err := history.Query(context.Background(), "up", time.Now())
	fmt.Println(value, warnings, err)
	value, warnings, err = history.QueryRange(context.Background(), "up", prometheus.Range{})
	fmt.Println(value, warnings, err, flowcontrol.NewFakeAlwaysRateLimiter())
}
`

// A program with code like vpaLikeProgram compiles with clientgo, and keeps its version of
// Prometheus' client.
func TestAProgramWithPrometheusClientCompilesWithTheReplacement(t *testing.T) {
	const library, its = "github.com/prometheus/client_golang", "v1.24.0"
	dir := program(t, programKind{dropin: true})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(vpaLikeProgram), 0o644))
	run(t, dir, "go", "mod", "edit", "-require="+library+"@"+its)
	run(t, dir, "go", "mod", "tidy")
	versions := selected(t, dir)
	require.Equal(t, its, versions[library])
	run(t, dir, "go", "build", "-trimpath", "-o", os.DevNull, ".")
	require.Contains(t, run(t, dir, "go", "list", "-m", client), fmt.Sprintf("%s %s => ", client, version))
}
