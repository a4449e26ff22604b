package workloads

import (
	"log/slog"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// Cluster is what the loops need of a server: its store, and its writes.
type Cluster struct {
	Store  *storage.Store
	Logger *slog.Logger

	// Modify replaces an object by the result of a function, which is called again if another write
	// comes first. ModifyUnchecked is for writes that need no checks.
	Modify, ModifyUnchecked func(res *storage.Resource, key types.NamespacedName, dryRun bool, change func(*storage.Revision) (apiobject.Object, error)) (*storage.Revision, error)

	// Remove deletes an object, or marks it as being deleted if something delays the deletion.
	Remove func(res *storage.Resource, key types.NamespacedName, opts metav1.DeleteOptions) (rev *storage.Revision, gone bool, err error)
}
