package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/bench/internal/subprocess"
)

// With the replace directive alone, the program misses the target of 0.75; clientgo/README.md
// explains why. With the build tag as well, the program reaches the target.
func TestTheReplacementMakesAnInformerProgramSmaller(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links four programs")
	}
	file, err := modFile()
	require.NoError(t, err)
	without, err := build(nil, t.TempDir(), "without", "clientgo")
	require.NoError(t, err)
	with, err := build(nil, t.TempDir(), "with", "clientgo", "-modfile="+file)
	require.NoError(t, err)
	tagged, err := build(nil, t.TempDir(), "tagged", "clientgo", "-modfile="+file, "-tags="+withoutOpenAPI)
	require.NoError(t, err)
	require.LessOrEqual(t, float64(with.bytes)/float64(without.bytes), 0.98)
	require.LessOrEqual(t, float64(tagged.bytes)/float64(without.bytes), 0.70)
	// Module clientgo adds seven packages: the guard of shared objects, the containment of panics,
	// sharing after a transform, and four rooms of package rest, whose code was in rest before.
	require.LessOrEqual(t, with.packages, without.packages+7)
	require.LessOrEqual(t, tagged.packages, without.packages-68)
}

func TestPackagesThatAnInformerOfPodsDoesNotLink(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links two programs")
	}
	const kubernetes, api = "k8s.io/client-go/kubernetes/", "k8s.io/api/apps/v1.(*Deployment)"
	symbols := func(flags ...string) string {
		file, err := modFile()
		require.NoError(t, err)
		binary := filepath.Join(t.TempDir(), "clientgo")
		args := append(append([]string{"build", "-modfile=" + file}, flags...), "-o", binary, sources+"clientgo")
		_, err = subprocess.Output("go", args...)
		require.NoError(t, err)
		all, err := subprocess.Output("go", "tool", "nm", binary)
		require.NoError(t, err)
		require.Contains(t, all, kubernetes+"typed/core/v1.(*CoreV1Client).Pods")
		require.NotContains(t, all, kubernetes+"typed/apps/v1.newDeployments", "no typed client of another group may be linked")
		require.NotContains(t, all, "k8s.io/client-go/informers/apps/v1.", "no informers of another group may be linked")
		require.NotContains(t, all, kubernetes+"scheme.", "no scheme of all types may be linked, because every start would build it")
		require.NotContains(t, all, "k8s.io/client-go/applyconfigurations/internal.Parser", "the schema of all types may not be linked")
		require.NotContains(t, all, "github.com/kinform/kinform/rest.(*Client).", "kinform's own client may not be linked")
		return all
	}
	require.Contains(t, symbols(), api+".Unmarshal", "if Google's protobuf library no longer keeps this method, update clientgo/README.md")
	small := symbols("-tags=" + withoutOpenAPI)
	for _, method := range []string{"Unmarshal", "Marshal", "MarshalToSizedBuffer", "MarshalTo"} {
		require.NotContains(t, small, api+"."+method, "methods of unused types may not be linked")
	}
}
