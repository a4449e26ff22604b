// Package reflector keeps a [Sink] in step with a server: it takes a snapshot,
// hands it over whole, and then passes on every change, for as long as its
// context lives, whatever goes wrong on the way.
//
// # The machine
//
// A reflector is a state machine, and it can be watched being one: [Reflector.Status]
// tells its [Phase], an [Observer] is told of every step, state.go has all of it,
// and testdata/steps.txt has what follows from each reply in each state. In this picture, a failure is a step along a double line.
//
//	                    first snapshot, or a later one
//	                       |                    |
//	                       v                    v
//	                 +-----------+       +-------------+
//	next page  +---- |  Listing  |       |  Streaming  | ----+  next event
//	           +---> |           | <==== |             | <---+
//	                 +-----------+       +-------------+
//	                       |  list's end    |       (no streaming list:
//	                       |  = Replace     |        list instead)
//	                       v                |
//	                 +------------+         |  end marker = Replace,
//	           +---> | Connecting |         |  the same stream goes on
//	watch's    |     +------------+         |
//	end, from  |      | answer   | after a  |
//	the last   |      |          v lost one |
//	version    |      |  +-----------+      |
//	           |      |  | Comparing |      |
//	           |      |  +-----------+      |
//	           |      v        v            v
//	           |     +----------------------------+
//	           +---- |          Watching          | ----+  event = Apply
//	                 +----------------------------+ <---+
//
//	any of the above  ==failure==>  BackingOff  -->  where it goes on
//	Connecting, Watching  ==version expired==>  Listing or Streaming, at once
//	Comparing  ==another history==>  Listing or Streaming, at once, as if nothing were known
//	any, when the context ends, or after too many 404 or 403  -->  Stopped
//
// # Snapshots
//
// The first list is asked for at version "0", which any server can answer from
// its cache, each later one at the last version seen or a newer one, which a server
// has to be told of lists in pages (RC-4). When the server says
// that it no longer has this version, or not yet, the most recent state is asked
// for at once, and until it comes (RC-5, RC-6). Pages are collected and handed over
// as one [Sink] call; when a continue token expires, or is that of a page which has
// come before, one list without pages takes their place (RC-8). A list that falls
// silent is tried again. A snapshot that is older than what the sink knows is refused,
// unless the server insists; see [Options].AllowTimeTravel.
//
// A streaming list ([WatchList]) is collected up to its end marker, changes in
// between included, and handed over just the same (RC-15 to RC-17). Where the server
// turns it down, or falls silent before the end marker, the reflector lists from
// then on; where it fails otherwise, it lists this once (RC-18).
//
// # Watches
//
// A watch starts from the last version seen, to which events and bookmarks add
// (RC-21, RC-24). One that ends in good order is followed by the next at once
// (RC-25). Unlike client-go, a watch that fails is tried again from where it was, and
// does not lead to a new list: if the version has become too old, the server says
// so, and then a list follows, without any wait, unless the failure before was the same
// (RC-26): after an outage, that the version has become too old is news. Only when
// watches fail three times in a row although the server answers, a list is taken
// in between, once a minute at most where that goes on. That makes sure that the sink
// gets on, slowly, where a version cannot be passed (an event that nobody can read),
// behind a proxy that breaks streams, and where a resource may be listed but not watched
// (403), or cannot be (405, 500, and 504, with which a gateway answers that waits for the
// end of a watch).
// A watch on which nothing comes, not even a bookmark, is taken to be dead; see
// [Options].WatchIdleTimeout. It may be that nothing happened, so it is reported, and
// counts as no failure.
//
// # Another history
//
// A cluster that is restored from a backup has another history under the same address:
// its versions have gone back, what was written after the backup has never been, and
// the same version may be of another object. A watch from a version that is yet to come
// waits in silence, and goes on as if nothing had happened once the versions have
// passed it. So whenever a watch was lost (any end but an orderly one that was due; a
// server that stops ends its watches in good order as well) the next one is compared
// before it is read:
//
//   - A list of one object, undecoded, tells the server's most recent version. One that
//     is lower than what the sink was told is of another history.
//   - The next watch does not begin where the last one ended, but with the last event
//     that it had brought. If another event comes in its place, this is another history.
//     If none comes, within five seconds, a snapshot follows.
//   - Where the server no longer has that event, or where there was none since the last
//     snapshot, and the server could not be reached for a while, a snapshot follows. It
//     compares by version.
//
// What follows another history is a snapshot of the most recent state for which nothing
// that the sink has counts, see [Restorer]; a lower version is accepted as soon as that
// snapshot confirms it. An event or a bookmark that comes when the watch has passed its
// version is ignored, but leads to a comparison as well, and an event that the sink does
// not have to a snapshot, every five minutes at most: what an odd server shows only now,
// with an old version, is in the snapshot.
//
// The price is one small list for each lost watch, and one event that comes twice. Where
// watches are lost one after another, as behind a proxy that cuts each connection after a
// second, these lists come a second apart, then two, four and so on, up to a minute, and
// begin anew after five minutes without; so do the snapshots. Meanwhile the event alone
// tells. Where there is none, the watch goes on and is asked to end when it is time for
// the list, and what it brings does not take the place of the event. So a cluster that was
// restored is found as soon as a watch is answered, or, after so many comparisons, a
// minute later, which takes 5 seconds more where the server does not end the watch. A
// server that fails the list, or does not allow it, is watched all the same.
//
// What is not found: a history that has passed the known version, where the client
// noticed no outage, and the last event is forgotten or there was none since the last
// snapshot; one that has the same object at the version of that event; and an object that
// was written again in just the version that is known of it, where there is no such event to
// tell. A source whose events are Unordered, as those of informer.Merge are, has no last
// event here: it looks for one itself. Whoever needs certainty after a restore restarts the
// process, or calls Run anew on a new reflector. [Options].SkipComparison turns all of this
// off.
//
// # Failures
//
// Every failure is reported once, with the phase, the cause, and the wait that
// follows. Waits grow with each failure in a row, and only success ends a row: a
// whole snapshot for attempts to take one; for watches the first event or
// bookmark, or [Backoff].Max without a failure. A snapshot is no success of watches: a
// resource that can be listed and not watched is asked for less and less often.
//
// Attempts that reach no server, or one that does not know who asks (401), have a row of
// their own, whose waits grow more slowly ([Backoff].OutageFactor), and which the first
// answer ends: what a server does when it has just begun, such as to forbid everything,
// is a first failure then. A connection that was lost after it had held for a
// while is made again after about that while, however many attempts failed before.
//
// Whatever a server answers, attempts that need not wait come no faster than one a
// second, after some ten since a failure was last waited for.
//
// A Retry-After of the server is the
// least that is waited. No failure is final by default: a resource that does not
// exist, or that may not be read, is asked for again after ever longer waits, up to
// [Backoff].PermanentMax; [Options].GiveUpAfter can make it the end. A list that is
// larger than the Source takes (listwatch.ErrListTooLarge) is asked for again after as
// long a wait from the first time on.
//
// An object that cannot be read is reported, what the sink has of it stays, and
// Status.Unreadable has it until it can be read or is gone. The first snapshot must be
// without one, unless [Options].SkipUnreadable says otherwise: it is a failed attempt
// else. If it was to be deleted, the sink is told that it is gone, without an object;
// the watch goes on, and nothing has failed. Only where a deletion cannot be read at
// all, neither whose nor of which version, a new snapshot is taken, after a wait: it
// tells what is gone. An object of which not even the name can be read may be any: nothing
// that is missing in such a snapshot is taken for deleted, and when the watch that
// follows has ended, another snapshot is taken.
//
// # Guarantees
//
//   - The sink is called from Run's goroutine only, one call at a time. The first
//     call is a Replace.
//   - Whatever went wrong, what the sink has been told is what the server had at
//     [Status].ResourceVersion, but for objects that could not be read. That includes
//     a server that was restored from a backup, as far as said above.
//   - Every wait and every request ends when the context ends. When Run returns, no
//     goroutine, stream or timer of it remains, as far as the Source keeps its
//     contract.
//   - Panics of the Source, the Sink or a hook are not recovered.
package reflector
