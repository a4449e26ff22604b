// Package deltafifo is the queue between a reflector, which hears of changes from a
// server, and a consumer, which keeps a store of the objects. The queue is a shelf with
// one stack of deltas per object. It has the place of client-go's DeltaFIFO in every
// picture of an informer. The difference is in Pop.
//
//	reflector                 the shelf, since the last Pop             consumer
//
//	             newest  ┌─────────┐
//	Add      ─►          │ Updated │ ┌─────────┐
//	Update   ─►          │ Updated │ │ Added   │                        ┌───────┐
//	Delete   ─►          │ Added   │ │ Deleted │ ┌─────────┐ ─► Pop ─►  │ store │
//	Replace  ─►  oldest  │ Deleted │ │ Updated │ │ Updated │   all of   └───┬───┘
//	Bookmark ─►          └─────────┘ └─────────┘ └─────────┘  it, as one     │
//	Resync   ─►             ns/a        ns/b        ns/c        Batch        │
//	                     ─────────────────────────────────                   │
//	                         resourceVersion 17                              │
//	                ▲                                                        │
//	                └──── Known: what has been applied so far  ◄─────────────┘
//
// The stacks stand in the order of each key's first delta. A stack is read from the
// bottom, so that the consumer sees all changes of an object, in order. Deltas are merged
// in two cases only: a Deleted follows a Deleted (DF-3), or a key gets more deltas than
// Options.MaxDeltasPerKey before the next Pop. States of two objects that had the key,
// one after another, are not merged: Delta.UIDHash tells them apart.
//
// The textbook's queue is plain/deltafifo.go. It hands out one key at a time, and holds its
// lock while the consumer works. With batches an event in a burst of 500 takes 0.9 ms at
// the median from the server to the handlers, with the textbook's queue 3.3 ms
// (plain/README.md).
//
// # Why Pop takes everything
//
// DeltaFIFO pops one key. That keeps the order of each key, but not the order across
// keys. So the store passes through states that the server never had, and a relist shows
// half of the old and half of the new set. Nobody can say up to which resourceVersion the
// store is complete, because an earlier change may still wait on another stack. RealFIFO
// pops single deltas, or runs of them up to the second one of a key, and so keeps all
// order. But it has no stacks, and a run still ends anywhere.
//
// Here Pop takes the whole shelf down, and the consumer applies it as one transaction, as
// a database does with a group of commits. So
//
//   - the store moves from one state of the server to a later one, and a relist is one
//     step;
//   - the store is complete through [Batch].ResourceVersion, because no earlier change is
//     left on the shelf;
//   - under load, batches grow by themselves, and cost less per event: the changes that
//     arrive while the consumer works are the next batch.
//
// # Where to find what
//
//   - A relist meets an object that vanished: replaceLocked in replace.go makes the tombstone if the queue has
//     the object, addKnown in decide.go if only the store has it.
//   - A deletion of an object that nobody has is dropped: decide in decide.go.
//   - The deltas of a key are bounded: pushLocked in fifo.go.
//
// # The hand-over
//
// A call of Pop says that the consumer has applied the batch of the Pop before. This one
// rule keeps stacks, batch and store from racing. At any moment, each change is in exactly
// one of three places:
//
//	pending    on the shelf. The producer adds to it; Pop takes it whole.
//	in flight  popped, and perhaps applied. Until the next Pop the queue remembers
//	           the keys, but no objects.
//	known      applied. Only the consumer writes here, and never during a Pop.
//
// During Pop, the store has exactly the state before the new batch. So all decisions that
// depend on the store are made in Pop:
//
//   - A Replace cannot know which objects the consumer will have, as a batch may be in
//     flight. For pending keys it puts tombstones on the stacks at once. For the others it
//     only notes that there was a Replace, and which keys it kept; Pop adds the tombstones.
//     If such a key gets a delta before that, Pop puts the tombstone under its stack:
//     deleted, then added.
//   - A Delete cannot know whether the consumer will have the key, for the same reason. It
//     is always queued, and Pop drops it if there is nothing to delete.
//   - A Resync is only noted. Pop adds a Sync for keys without a stack, so that a Sync is
//     never older than the delta before it.
//
// Pop reads the store without the lock of the queue. It can, because the producer cannot
// reach the shelf that Pop has taken down, and the only writer of the store is the
// consumer, which is in Pop. The producer's decoders call HasVersion at any time. It reads
// the store only for keys that are neither pending nor in flight. For these the store has
// the newest state, or one that became the newest during the call. For a key in flight,
// the newest state is neither in the store nor on the shelf: HasVersion returns false, and
// one object is decoded in vain. While Pop works out which keys vanished, these count as
// in flight: a key has vanished if a Replace did not list it and it has no stack, and the
// queue's footprint answers both.
//
// # Guarantees
//
//   - For each key, Pop hands out all deltas in their order, except for the merges named
//     above. It always hands out the first and the newest.
//   - After a batch is applied, the store has exactly the state that the producer told
//     through Batch.ResourceVersion.
//   - A key that vanished is deleted exactly once, with FinalStateUnknown unless the
//     producer tells its deletion after all.
//   - Pop hands out a Deleted only if the consumer has the object, or gets it from the same
//     stack (DF-6).
//   - The queue keeps nothing in memory that it has handed out.
//   - A queue has no goroutines, and waits on channels only.
//
// While the consumer is slow, memory is bounded by Options.MaxDeltasPerKey plus 3, times a
// number of objects: those that exist, and those whose deletion the consumer has not
// heard of. Names that are used once, such as those of Pods, make no difference.
//
// # Differences from DeltaFIFO
//
// docs/contracts.md has each behaviour of client-go's DeltaFIFO and RealFIFO by its number,
// with the test that pins it here, and every difference with its reason. The largest
// differences: Pop takes everything, and there is no process function. Keys are beside
// objects, so that no key function can fail. Nothing is counted for the first sync, which is
// one batch, marked Initial.
package deltafifo
