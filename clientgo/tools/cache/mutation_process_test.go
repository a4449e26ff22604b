package cache_test

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"
	framework "k8s.io/client-go/tools/cache/testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
)

const detectorVariable = "KUBE_CACHE_MUTATION_DETECTOR"

// A real program modifies a cached object, and the detector ends the program.
func TestAProgramThatMutatesCachedObjectsPanics(t *testing.T) {
	program := func(name, value string) string {
		cmd := exec.Command(os.Args[0], "-test.run=^"+name+"$", "-test.timeout=60s")
		cmd.Env = append(os.Environ(), detectorVariable+"="+value, "KINFORM_PROGRAM=1")
		out, err := cmd.CombinedOutput()
		require.Equal(t, value == "true" && name == "TestProgramThatChanges", err != nil, "%s", out)
		return string(out)
	}
	out := program("TestProgramThatChanges", "true")
	require.Contains(t, out, "CACHE *v1.Pod[0] ALTERED!")
	require.Contains(t, out, `.Labels[a]: was "b", is "c"`)
	require.Contains(t, out, "panic: cache *v1.Pod modified")
	program("TestProgramThatChanges", "false")
	program("TestProgramThatOnlyReads", "true")
}

func TestProgramThatChanges(t *testing.T)   { runProgram(t, true) }
func TestProgramThatOnlyReads(t *testing.T) { runProgram(t, false) }

func runProgram(t *testing.T, changes bool) {
	if os.Getenv("KINFORM_PROGRAM") == "" {
		t.Skip("TestAProgramThatMutatesCachedObjectsPanics runs this test")
	}
	source := framework.NewFakeControllerSource()
	defer source.Shutdown()
	p := pod("a")
	p.Labels = map[string]string{"a": "b"}
	source.Add(p)
	inf := cache.NewSharedIndexInformer(source, &v1.Pod{}, 0, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { inf.RunWithContext(ctx) })
	require.True(t, cache.WaitForCacheSync(ctx.Done(), inf.HasSynced))
	if changes {
		inf.GetStore().List()[0].(*v1.Pod).Labels["a"] = "c"
	}
	if changes && os.Getenv(detectorVariable) == "true" {
		// On a busy machine the detector needs more than a second to end the program.
		time.Sleep(50 * time.Second)
	}
	time.Sleep(1500 * time.Millisecond)
	cancel()
	running.Wait()
}
