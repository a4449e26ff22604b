// Package await waits until an object in a store is as somebody wants it: created,
// ready, rolled out, gone.
//
//	pod, err := await.Until(ctx, pods.Store(), key, await.And(
//		await.GenerationObserved[*corev1.Pod](),
//		await.StatusCondition[*corev1.Pod]("Ready"),
//	))
//
// Nothing is polled: a wait looks when the store changes the key, and only then. It
// costs no request, for it reads an informer's store. As that holds the newest state
// alone, one that is left at once may never be seen: conditions should be about
// states that last.
//
// A wait does not know whether the store is complete. Before the first sync nothing
// exists in it, so that [Deleted] holds: wait for the sync first.
package await
