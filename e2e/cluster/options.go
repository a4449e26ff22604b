package cluster

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Options configures a cluster. The zero value needs only the environment variable
// KINFORM_E2E_BIN, which `make test` sets.
type Options struct {
	// Bin is the directory with the binaries kube-apiserver and etcd. Defaults to
	// $KINFORM_E2E_BIN.
	Bin string

	// ReadyTimeout is how long the server may take until /readyz responds with 200. Defaults to one
	// minute.
	ReadyTimeout time.Duration

	// Uncached names resources (plural, with ".group" outside the core group) that the server reads
	// from etcd for every list and watch, without its watch cache. A compaction then affects these
	// resources at once; with the cache, the server would still serve them from memory. Defaults to
	// no resources.
	Uncached []string

	// Flags are additional flags for kube-apiserver. They follow the flags that the package itself
	// sets.
	Flags []string
}

func (o Options) withDefaults() (Options, error) {
	o.Bin = cmp.Or(o.Bin, os.Getenv("KINFORM_E2E_BIN"))
	o.ReadyTimeout = cmp.Or(o.ReadyTimeout, time.Minute)
	if o.Bin == "" {
		return o, fmt.Errorf("cluster: no binaries: set KINFORM_E2E_BIN, or run the tests with make")
	}
	for _, name := range []string{"kube-apiserver", "etcd"} {
		if _, err := os.Stat(filepath.Join(o.Bin, name)); err != nil {
			return o, fmt.Errorf("cluster: %w: run make servers", err)
		}
	}
	return o, nil
}
