package indexer

import "k8s.io/apimachinery/pkg/types"

// Reader is the reading half of a [Store]: it is what an informer hands out.
//
// Each method reads the revision that is current when it is called, and an
// iterator the one that is current when its loop begins, which it stays with to
// the end of the loop. Whoever needs several answers that fit together takes a
// [Snapshot], which has the same methods. No method but [Reader.WaitRV] ever
// blocks, and none holds up a writer.
type Reader[T any] struct {
	reading[T]
	waiters  waiters
	observer Observer

	unreadable func(types.NamespacedName) error
}
