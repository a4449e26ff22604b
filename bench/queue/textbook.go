package main

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/plain"
)

// textbookQueue is the queue of package plain. It has no priorities.
type textbookQueue struct {
	*plain.Queue[types.NamespacedName]
}

func openTextbook() queue { return textbookQueue{plain.NewQueue[types.NamespacedName]()} }

func (q textbookQueue) add(key types.NamespacedName)                       { q.Add(key) }
func (q textbookQueue) addAfter(key types.NamespacedName, d time.Duration) { q.AddAfter(key, d) }
func (q textbookQueue) get() (types.NamespacedName, bool)                  { return q.Get() }
func (q textbookQueue) done(key types.NamespacedName)                      { q.Done(key) }
func (q textbookQueue) flush()                                             {}
func (q textbookQueue) shutDown()                                          { q.ShutDown() }
