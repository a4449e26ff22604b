package apitest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
)

func TestRestore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, c := startMemory(t, apitest.Options{})
		create(t, srv, pod("a", "p"), pod("a", "q"))
		backup := srv.Backup()
		require.NoError(t, srv.Delete(pods, types.NamespacedName{Namespace: "a", Name: "p"}))
		create(t, srv, pod("a", "r"))
		require.Equal(t, "5", srv.ResourceVersion())
		open := c.watch(t, "/api/v1/pods", jsonType, "resourceVersion", "5")

		srv.Restore(backup)
		_, err := open.next()
		require.Error(t, err, "the connection must be closed")
		require.Equal(t, "3", srv.ResourceVersion())
		objects, version, err := srv.List(pods, "")
		require.NoError(t, err)
		require.Equal(t, "3", version)
		require.Len(t, objects, 2)
		require.Equal(t, "p", objects[0].GetName())

		// A watch from a version in the future is silent until the server reaches that version.
		future := c.watch(t, "/api/v1/pods", jsonType, "resourceVersion", "5", "allowWatchBookmarks", "true")
		create(t, srv, pod("b", "at-4"), pod("b", "at-5"))
		time.Sleep(30 * time.Second)
		create(t, srv, pod("b", "at-6"))
		future.expect("ADDED b/at-6", "BOOKMARK 6")

		// The server does not know the history before the backup.
		w := c.watch(t, "/api/v1/pods", jsonType, "resourceVersion", "2")
		status, err := w.next()
		require.NoError(t, err)
		require.Equal(t, "ERROR", status.Type)
	})
}

func TestRestoreNeedsItsOwnBackup(t *testing.T) {
	t.Parallel()
	backup := apitest.New(apitest.Options{}).Backup()
	require.Panics(t, func() { apitest.New(apitest.Options{}).Restore(backup) })
}
