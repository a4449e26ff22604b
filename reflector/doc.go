// Package reflector keeps a [Sink] in step with a server: it takes a snapshot,
// hands it over whole, and then passes on every change, for as long as its
// context lives, whatever goes wrong on the way.
//
// # The machine
//
// A reflector is a state machine. [Reflector.Status] tells its [Phase], an [Observer]
// is told of every step, state.go has all states, and testdata/steps.txt lists the next
// state for each reply in each state. In this picture, a failure is a step along a
// double line.
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
//	Connecting, Watching  ==version expired: 410==>  Listing or Streaming, at once
//	Comparing  ==another history==>  Listing or Streaming, at once, as if nothing were known
//	any, when the context ends, or after too many 404 or 403  -->  Stopped
//
// plain/reflector.go has one state: list, then watch until something fails, then list again. After an outage ten thousand
// of that kind would list everything from etcd at once. This one takes up a watch where it was lost.
//
// # Where to find what
//
//   - What follows a failed watch, and 410 Gone: watchFailed in watch.go.
//   - The first list, and each later one: list in list.go; for streaming lists, collect in stream.go.
//   - A server that was restored from a backup: compare in compare.go.
//   - An object that cannot be read: unreadChange in watch.go, readPage in list.go.
//   - How long to wait: Backoff in backoff.go, Row in row.go.
//
// # Snapshots
//
// The reflector asks for the first list at version "0", which any server can answer
// from its cache. It asks for each later list at the last version seen or a newer one,
// and says so explicitly where the list comes in pages. When the server answers that it
// no longer has this version, or not yet, the reflector asks for the most recent state
// at once, and until it comes (RC-6). It collects pages and hands them over as one
// [Sink] call. When a continue token expires, or is the token of an earlier page, one
// list without pages takes their place. The reflector tries a list that falls silent
// again. It refuses a snapshot that is older than the version that the sink was told,
// unless the server insists; see [Options].AllowTimeTravel.
//
// A streaming list ([WatchList]) is collected up to its end marker, changes in between
// included, and handed over just the same. Where the server turns it down, or falls
// silent before the end marker, the reflector lists from then on; after any other
// failure, it lists this once.
//
// # Watches
//
// A watch starts from the last version seen, which events and bookmarks move forward.
// After a watch that ends in good order the reflector opens the next at once. Unlike
// client-go, it tries a watch that fails again from where it was, and takes no new
// list. If the version has become too old, the server says so, and then a list follows,
// without any wait, unless the failure before was the same: after an outage, a version
// that has become too old is news. Only when watches fail three times in a row although
// the server answers, the reflector takes a list in between, once a minute at most
// where that goes on. So the sink gets on, slowly, where watches cannot pass a version
// (an event that nobody can read), behind a proxy that breaks streams, and where a
// resource may be listed but not watched (403), or cannot be (405, 500, and 504, with
// which a gateway answers that waits for the end of a watch). The reflector takes a
// watch on which nothing comes, not even a bookmark, to be dead; see
// [Options].WatchIdleTimeout. It reports the silence, and counts no failure, as it may
// be that nothing happened.
//
// # Another history
//
// A cluster that is restored from a backup has another history under the same address:
// its versions have gone back, the writes after the backup are gone, and the same
// version may be of another object. A watch from a version that is yet to come waits in
// silence, and goes on as if nothing had happened once the versions have passed it. So
// whenever a watch was lost (any end but an orderly one that was due; a server that
// stops ends its watches in good order as well) the next one is compared before it is
// read:
//
//   - A list of one object, undecoded, tells the server's most recent version. A
//     version that is lower than the one that the sink was told is of another history.
//   - The next watch does not begin where the last one ended, but with the last event
//     that it had brought. If another event comes in its place, this is another history.
//     If none comes, within five seconds, a snapshot follows.
//   - Where the server no longer has that event, or where there was none since the last
//     snapshot, and the server could not be reached for a while, a snapshot follows. It
//     compares by version.
//
// After it has found another history, the reflector takes a snapshot of the most recent
// state as if the sink had nothing, see [Restorer]. It accepts a lower version as soon
// as that snapshot confirms it. It ignores an event or a bookmark that comes when the
// watch has passed its version, but compares then as well, every five minutes at most.
// If the sink does not have that event, a snapshot follows: an object that an odd
// server shows only now, with an old version, is in the snapshot.
//
// The price is one small list for each lost watch, and one event that comes twice.
// Where watches are lost one after another, as behind a proxy that cuts each connection
// after a second, these lists come a second apart, then two, four and so on, up to a
// minute, and begin anew after five minutes without; so do the snapshots. Meanwhile the
// event alone tells. Where there is no such event, the watch goes on, the server is
// asked to end it when it is time for the list, and the events that it brings do not
// take the place of that event. So the reflector finds a cluster that was restored as
// soon as a watch is answered, or, after so many comparisons, a minute later; 5 seconds
// more where the server does not end the watch. It watches a server that fails the
// list, or does not allow it, all the same.
//
// The reflector does not find three things: a history that has passed the known
// version, where the client noticed no outage, and the server has forgotten the last
// event or none came since the last snapshot; a history that has the same object at the
// version of that event; and an object that was written again in just the version that
// the sink has of it, where no such event can tell. A source whose events are
// Unordered, as those of sources.Merge are, has no last event here: it looks for one
// itself. Whoever needs certainty after a restore restarts the process, or calls Run
// anew on a new reflector. [Options].SkipComparison turns all of this off.
//
// # Failures
//
// Every failure is reported once, with the phase, the cause, and the wait that follows.
// Waits grow with each failure in a row, and only success ends a row: a whole snapshot
// for attempts to take one; for watches the first event or bookmark, or [Backoff].Max
// without a failure. A snapshot is no success of watches: the reflector asks less and
// less often for a resource that it can list and not watch.
//
// Attempts that reach no server, or a server that does not know the client (401), have
// a row of their own. Its waits grow more slowly ([Backoff].OutageFactor), and the
// first answer ends it: if a server that has just begun forbids everything, that is a
// first failure. A connection that was lost after it had held for a while is made again
// after about that while, however many attempts failed before.
//
// Whatever a server answers, attempts that need not wait come no faster than one a
// second, after some ten since a failure was last waited for.
//
// A Retry-After of the server is the least wait. No failure is final by default: the
// reflector asks again for a resource that does not exist, or that it may not read,
// after ever longer waits, up to [Backoff].PermanentMax; [Options].GiveUpAfter can make
// it the end. After a list that is larger than the Source takes
// (listwatch.ErrListTooLarge), already the first wait is as long.
//
// The reflector reports an object that it cannot read. The sink keeps the state that it
// has of the object, and Status.Unreadable has the object until it can be read or is
// gone. A first snapshot with such an object is a failed attempt, unless
// [Options].SkipUnreadable says otherwise. If the object was deleted, the sink is told
// that it is gone, without an object; the watch goes on, and nothing has failed. Only
// where the key or the version of a deletion cannot be read, the reflector takes a new
// snapshot, after a wait, which tells which object is gone. An object whose name cannot
// be read may be any object: the reflector takes nothing that is missing in such a
// snapshot for deleted, and takes another snapshot when the watch that follows has
// ended.
//
// # Guarantees
//
//   - The sink is called from Run's goroutine only, one call at a time. The first
//     call is a Replace.
//   - Whatever went wrong, the sink has been told of the state that the server had at
//     [Status].ResourceVersion, but for objects that could not be read. That includes a
//     server that was restored from a backup, as far as said above.
//   - Every wait and every request ends when the context ends. When Run returns, no
//     goroutine, stream or timer of it remains, as far as the Source keeps its
//     contract.
//   - Panics of the Source, the Sink or a hook are not recovered.
package reflector
