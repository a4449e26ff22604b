package informer_test

import (
	"testing"
	"testing/synctest"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/stretchr/testify/require"
)

// An object that is added while a handler is behind is in the store already, and a worker on
// another key may have read it. So the handler must receive the deletion of that object: otherwise
// the results of the read would stay for ever.
func TestHandlerGetsTheDeletionOfAnObjectThatReadersSaw(t *testing.T) { // G2
	synctest.Test(t, func(t *testing.T) {
		f := newFake("1", item("busy", "1", "x"))
		inf := newInformer(t, f, informer.Options[*obj]{})
		release := make(chan struct{})
		var received []string
		_, err := inf.AddHandler(func(e informer.Event[*obj]) {
			received = append(received, names(e))
			if e.ResourceVersion == "2" {
				<-release
			}
		}, informer.HandlerOptions{Mailbox: 1})
		require.NoError(t, err)
		stop := start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		f.Events <- ev(listwatch.Modified, "busy", "2", "x")
		synctest.Wait() // The handler is blocked.
		f.Events <- ev(listwatch.Modified, "busy", "3", "x")
		synctest.Wait() // Its mailbox is full.
		f.Events <- ev(listwatch.Added, "a", "4", "x")
		synctest.Wait()
		_, seen := inf.Store().Get(item("a", "", "").Key)
		require.True(t, seen, "a worker that reads the store finds the object")
		f.Events <- ev(listwatch.Deleted, "a", "5", "x")
		synctest.Wait()
		close(release)
		synctest.Wait()
		stop()
		require.Equal(t, []string{"Added busy@1", "Updated busy@2", "Updated busy@3", "Added a@4", "Deleted a@5"}, received)
	})
}
