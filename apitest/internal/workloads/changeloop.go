package workloads

import (
	"context"

	"github.com/kinform/kinform/apitest/internal/storage"
)

// ChangeLoop is a loop that processes every change.
type ChangeLoop struct {
	// Start reads all objects. The loop calls it at the beginning, and after it has missed changes.
	// If objects are written meanwhile, Start may see some of these writes and miss others. The
	// loop then calls Change for all of them.
	Start func()

	// Change gets each change after the call of Start, in order.
	Change func(*storage.Change)

	// OnIdle does the work that is due. The loop calls it when no change is left to process.
	OnIdle func()
}

// RunLoop runs a loop until ctx ends.
func RunLoop(ctx context.Context, store *storage.Store, f ChangeLoop) {
	for ctx.Err() == nil {
		version := store.Current() // Changes during the call of Start are processed again.
		f.Start()
		processChanges(ctx, store, f, version)
	}
}

// processChanges processes changes after a version. It returns when changes are missing, or when
// ctx ends.
func processChanges(ctx context.Context, store *storage.Store, f ChangeLoop, version uint64) {
	for {
		changes, through, more, ok := store.Read(version)
		if !ok || store.Current() < version { // a backup was restored
			return
		}
		for _, c := range changes {
			f.Change(c)
		}
		if version = through; len(changes) > 0 {
			if ctx.Err() != nil {
				return
			}
			continue // More changes come before the work that is due.
		}
		f.OnIdle()
		select {
		case <-ctx.Done():
			return
		case <-more:
		}
	}
}
