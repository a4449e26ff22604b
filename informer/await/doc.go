// Package await waits until an object in a store satisfies a condition: created, ready, rolled out,
// gone.
//
//	pod, err := await.Until(ctx, pods.Store(), key, await.And(
//		await.GenerationObserved[*corev1.Pod](),
//		await.StatusCondition[*corev1.Pod]("Ready"),
//	))
//
// Nothing is polled: a wait evaluates its condition only when the store changes the key. A wait
// costs no request, because it reads an informer's store. The store holds only the newest state. A
// state that lasts a moment may never be seen, so use conditions about states that last.
//
// A wait does not know whether the store is complete. The store is empty before the first sync, so
// [Deleted] holds: wait for the sync first.
package await
