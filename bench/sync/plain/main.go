// Command plain is the side of package plain, the textbook pipeline, in the measurement of package
// sync. It only supports JSON, lists in one piece, and whole pods.
package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/bench/internal/subject"
	"github.com/kinform/kinform/plain"
)

func main() { subject.Main(open) }

func open(task subject.Task) (subject.Informer, error) {
	if task.Encoding != subject.JSON || task.Mode != subject.List || task.Shape != subject.Full || task.Unshared {
		return nil, errors.New("package plain lists whole pods in JSON, and nothing else")
	}
	m := &measured{transport: &http.Transport{}, synced: make(chan struct{})}
	client := &plain.Client[*corev1.Pod]{HTTP: &http.Client{Transport: m.transport}, URL: task.URL + "/api/v1/pods", UserAgent: task.Name}
	m.informer = plain.NewInformer(client, plain.Options[*corev1.Pod]{})
	var err error
	m.handler, err = m.informer.AddHandler(func(e plain.Event[*corev1.Pod]) {
		if e.Type == plain.Updated {
			task.Updated()
		}
	})
	return m, err
}

// measured is an informer and its handler.
type measured struct {
	transport *http.Transport
	informer  *plain.Informer[*corev1.Pod]
	handler   *plain.Handler[*corev1.Pod]
	synced    chan struct{}
}

// Run implements subject.Informer.
func (m *measured) Run(ctx context.Context) error {
	defer m.transport.CloseIdleConnections()
	var asking sync.WaitGroup
	asking.Go(func() { m.pollSynced(ctx) })
	defer asking.Wait()
	return m.informer.Run(ctx)
}

// pollSynced polls whether the handler is synced, because package plain has no channel for this.
func (m *measured) pollSynced(ctx context.Context) {
	for ctx.Err() == nil {
		if m.handler.Synced() {
			close(m.synced)
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// Synced implements subject.Informer.
func (m *measured) Synced() <-chan struct{} { return m.synced }

// Len implements subject.Informer.
func (m *measured) Len() int { return len(m.informer.Store.List()) }

// ResourceVersion implements subject.Informer.
func (m *measured) ResourceVersion() string { return m.informer.Applied() }
