// Package deltafifo is the queue between a reflector, which learns from a server
// what happens to objects, and the consumer that keeps a store of them: a shelf
// with one stack of deltas per object. It is what client-go's DeltaFIFO is in
// every picture of an informer, with one difference, which is in Pop.
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
// The stacks stand in the order in which their keys were first told of, and a
// stack is read from the bottom, so that the consumer sees all that happened to
// an object, in order. Only two things are compressed: a Deleted right after a
// Deleted (DF-3), and the changes of an object of which the producer tells more
// often than Options.MaxDeltasPerKey before anybody pops. States of two objects that had
// the key, one after another, are not merged: Delta.UIDHash tells them apart.
//
// The textbook's queue is plain/deltafifo.go. It hands out one key at a time, and holds its
// lock while the consumer works. With batches an event in a burst of 500 takes 0.9 ms at
// the median from the server to the handlers, with the textbook's queue 3.3 ms
// (plain/README.md).
//
// # Why Pop takes everything
//
// DeltaFIFO pops one key. Per-key order is then kept, but order across keys is
// not: the store passes through states that the server never had, a relist shows
// half of the old and half of the new set, and nobody can say up to which
// resourceVersion the store is complete, because the change before that version
// may still be waiting on another stack. RealFIFO pops single deltas, or runs of
// them up to the second one of a key, and so keeps all order; but it gives up the
// stacks, and a run still ends anywhere.
//
// Here Pop takes the whole shelf down and the consumer applies it as one
// transaction, as a database does with a group of commits. So
//
//   - the store moves from one state that the server had to a later one that it
//     had, and a relist is one step;
//   - the store is complete through [Batch].ResourceVersion, simply because
//     nothing that was told before is left behind;
//   - under load batches grow by themselves, and cost less per event: what
//     arrives while the consumer works is the next batch.
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
// Calling Pop says that the batch of the Pop before has been applied. This one
// rule is what keeps stacks, batch and store from racing. At any moment, what
// was told is in exactly one of three places:
//
//	pending    on the shelf. The producer adds to it; Pop takes it whole.
//	in flight  popped, and perhaps applied, who knows. Until the next Pop the
//	           queue remembers which keys those are, but no objects.
//	known      applied. Only the consumer writes here, and never during a Pop.
//
// Hence what depends on the store is asked in Pop, where the store rests and is
// exactly the state before the batch that is being made:
//
//   - A Replace cannot know which objects the consumer will have by then, as a
//     batch may be in flight. For pending keys it puts tombstones on the stacks at
//     once. For all others it only notes that there was a Replace, and which keys
//     it kept; Pop adds the tombstones. If such a key is told of again in between,
//     Pop puts the tombstone under its stack: deleted, then added.
//   - A Delete cannot know whether the consumer will have the key, for the same
//     reason. It is always queued, and Pop drops it if there is nothing to delete.
//   - A Resync is only noted. Pop adds a Sync for keys that nothing else is about,
//     and so never one that is older than what it follows.
//
// The store is read without the lock of the queue. Pop can do so because the
// shelf that it has taken down is out of the producer's reach, and the only writer
// of the store is the consumer, who is in Pop. HasVersion, which the producer's
// decoders call at any time, asks the store only about keys that are neither
// pending nor in flight; for these the store has the newest state, and if it moves
// on meanwhile, then to a state that was the newest in between. A key in flight
// has no state to compare with, so HasVersion is false, and one object too many is
// decoded. While Pop works out which keys vanished, these count as in flight: a key
// has vanished if a Replace did not list it and it has no stack, and the footprint that
// the queue remembers answers both.
//
// # Guarantees
//
//   - For each key, deltas come out in the order in which they were told, all of
//     them except for the merges named above; the first and the newest always.
//   - After a batch is applied the store has exactly what was told through
//     Batch.ResourceVersion.
//   - A key that vanished is deleted exactly once, with FinalStateUnknown unless
//     the producer tells of its deletion after all.
//   - A Deleted is handed out only if the consumer has the object, or gets it from
//     the same stack (DF-6).
//   - Nothing that was handed out is kept in memory by the queue.
//   - A queue has no goroutines, and waits on channels only.
//
// Memory while the consumer is slow is bounded by the number of objects that exist, and
// of those of whose end the consumer has yet to learn, times Options.MaxDeltasPerKey plus
// 3. Names that are used once, as those of Pods are, make no difference.
//
// # What of DeltaFIFO is kept, and what is not
//
// docs/contracts.md has each behaviour of client-go's DeltaFIFO and RealFIFO by its number,
// with the test that pins it here, and every difference with its reason. The largest ones:
// Pop takes everything, and there is no process function; keys are told beside objects, so
// that no key function can fail; nothing is counted for the first sync, which is one
// batch, marked Initial.
package deltafifo
