package indexer

import "k8s.io/apimachinery/pkg/types"

// Reader is the read-only half of a [Store]. Informers hand it out.
//
// Each method reads the revision that is current at its call. An iterator reads the revision that
// is current when its loop starts, until the loop ends. For several results of one moment, take a
// [Snapshot], which has the same methods. No method except [Reader.WaitRV] blocks, and no method
// delays a writer.
type Reader[T any] struct {
	queries[T]
	waiters  waiters
	observer Observer

	undecodable func(types.NamespacedName) error
}
