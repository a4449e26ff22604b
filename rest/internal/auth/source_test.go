package auth

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// credential is a credential of these tests.
type credential struct{ token string }

// TestRefusedCredentialFromRunningCallIsNotUsed: a request after a 401 waits for a call
// that started after the 401.
func TestRefusedCredentialFromRunningCallIsNotUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old, renewed := &credential{"old"}, &credential{"new"}
		a := NewSource(func(_ context.Context, refused *credential) (*credential, error) {
			time.Sleep(time.Second)
			if refused == old {
				return renewed, nil
			}
			return old, nil
		}, time.Minute)
		var group sync.WaitGroup
		group.Go(func() { _, _ = a.Get(t.Context()) })
		synctest.Wait()
		a.SetRefused(old)
		got, err := a.Get(t.Context())
		require.NoError(t, err)
		require.Same(t, renewed, got)
		group.Wait()
	})
}

// callbackContext is a context that delays the request just before it waits.
type callbackContext struct {
	context.Context
	begins func()
}

func (s callbackContext) Done() <-chan struct{} {
	s.begins()
	return s.Context.Done()
}

// A request after a 401 also ignores a result that was complete before the request started to wait.
func TestRefusedCredentialFromEndedCallIsNotUsed(t *testing.T) {
	t.Parallel()
	for range 20 {
		old, renewed := &credential{"old"}, &credential{"new"}
		release := make(chan struct{})
		a := NewSource(func(_ context.Context, refused *credential) (*credential, error) {
			if refused == old {
				return renewed, nil
			}
			<-release
			return old, nil
		}, time.Minute)
		first, _, err := a.join(t.Context())
		require.NoError(t, err)
		a.SetRefused(old)
		var once sync.Once
		got, err := a.Get(callbackContext{t.Context(), func() {
			once.Do(func() {
				close(release)
				<-first.ctx.Done()
			})
		}})
		require.NoError(t, err)
		require.Same(t, renewed, got)
	}
}
