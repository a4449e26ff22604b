// Package reflector keeps a [Sink] in step with a server. It takes a snapshot, hands it
// over whole, and then hands over every change, until its context ends. After each
// failure it goes on by itself.
//
// # The machine
//
// A reflector is a state machine. [Reflector.Status] has its [Phase], and an [Observer]
// is called at every step. state.go has all states, and testdata/steps.txt lists the next
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
// plain/reflector.go has one state: list, then watch until something fails, then list
// again. That takes 2.30 s of CPU for 20,000 pods (plain/README.md), and after an outage
// ten thousand such reflectors would list everything from etcd at once. This reflector
// goes on with a watch from the version where it lost the last one.
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
// The reflector asks for the first list at version "0", which any server can answer from
// its cache. It asks for each later list at the last version seen or a newer one; for a
// list in pages, the request says "or a newer one" explicitly. When the server answers
// that it no longer has this version, or does not have it yet, the reflector asks for the
// most recent state at once, and in each attempt until a list succeeds (RC-6).
//
// The reflector collects pages, and hands them over in one call of the [Sink]. When a
// continue token expires, or is the token of an earlier page, it asks for the whole list
// without pages. If a list falls silent, it tries again. It refuses a snapshot that is
// older than the version that the sink was told, unless the server insists; see
// [Options].AllowTimeTravel.
//
// The reflector collects a streaming list ([WatchList]) up to its end marker, changes in
// between included, and hands it over in the same way. If the server refuses streaming
// lists, or falls silent before the end marker, the reflector uses lists from then on.
// After another failure, it uses one list, and then streaming lists again.
//
// # Watches
//
// A watch starts from the last version seen, which events and bookmarks move forward. A
// bookmark without a version is ignored. After a watch that ends in good order, the reflector
// opens the next one at once. When a watch fails, the reflector opens the next one from the
// same version; unlike client-go, it does not list again. Without a version to go on from
// ("" or "0"), it does: a watch from there does not show what was deleted meanwhile. If the
// version has become too old, the server says so (410), and a list follows at once. There is
// a wait only if the last failure was a 410 as well: then the list did not help.
//
// When watches fail three times in a row although the server answers, the reflector takes
// a list in between, once a minute at most. So the sink goes on, slowly, in these cases:
// watches cannot pass a version (because of an event that cannot be read); a proxy breaks
// streams; the client may list the resource, but must not watch it (403), or cannot (404, 405,
// 500, or 504 of a gateway that waits for the end of a watch).
//
// If nothing comes on a watch for long, not even a bookmark, the reflector takes the
// connection to be dead; see [Options].WatchIdleTimeout. It reports the silence, but
// counts no failure, because it may be that nothing has happened.
//
// # Another history
//
// A cluster that is restored from a backup has another history under the same address:
// its versions have gone back, the writes after the backup are gone, and the same
// version may be of another object. If a watch starts from a version that is yet to come,
// the server is silent until its versions have passed that one, and then sends changes as
// if nothing had happened. So whenever a watch was lost, the reflector compares the next
// one before it hands over its events. (A watch was lost unless it ended in good order and
// in time: a server that stops ends its watches in good order as well.)
//
//   - A list of one object, which is not decoded, tells the server's most recent version.
//     If that is lower than the version that the sink was told, it is another history.
//   - The next watch begins just before the last event of the lost watch. If another event
//     comes first, it is another history. If none comes within five seconds, a snapshot
//     follows.
//   - There may be no such event: none came since the last snapshot, or the server no
//     longer has it. Then, if the server could not be reached for a while, a snapshot
//     follows. It compares by version.
//
// After it has found another history, the reflector takes a snapshot of the most recent
// state, as if the sink had nothing; see [Restorer]. It accepts a lower version as soon as
// that snapshot has it as well.
//
// If an event comes when the watch has passed its version, and the sink does not have that
// version, the reflector compares as well, every five minutes at most. A snapshot follows: an
// odd server may show an object late, with an old version, and the snapshot has this object.
// If such events go on after the snapshot, the server's objects have versions of their own,
// which say nothing about the watch. Then the sink is told of each event, in the order in
// which they come. A bookmark of a version that the watch has passed is ignored.
//
// The price is one small list for each lost watch, and one event that comes twice. If
// watches are lost one after another, as behind a proxy that cuts each connection after a
// second, the lists come one second apart, then two, four and so on, up to a minute; so do
// the snapshots. After five minutes without, this begins anew. Between two lists, only the
// event is compared. If there is no such event, the reflector hands over the events of the
// watch, and asks the server to end it when the next list is due; these events are not
// compared later. So the reflector finds a restored cluster as soon as the server answers
// a watch or, after many comparisons, a minute later, and five seconds more if the server
// does not end the watch in time. If a server fails or forbids the list, the reflector
// watches all the same.
//
// The reflector does not find another history in three cases. First, its versions have
// passed the known one, the client noticed no outage, and there is no event to compare.
// Second, it has the same object at the version of that event. Third, an object was
// written again in just the version that the sink has, and there is no event to compare.
// Events that are Unordered, such as those of sources.Merge, are not compared here: that
// source compares by itself. To be certain after a restore, restart the process, or run a
// new reflector. [Options].SkipComparison turns all of this off.
//
// # Failures
//
// The reflector reports every failure once, with the phase, the cause, and the wait that
// follows. Waits grow with each failure in a row, and only success ends a row. For
// snapshots, success is a whole snapshot. For watches, it is the first event or bookmark,
// or a time of [Backoff].Max without a failure. A snapshot does not end a row of watches:
// if the reflector can list a resource but not watch it, its waits go on growing.
//
// Attempts that reach no server, or a server that does not know the client (401), have a
// row of their own. Its waits grow more slowly ([Backoff].OutageFactor), and the first
// other answer ends it: if a server that has just started forbids everything, that is the
// first failure of a new row. If a connection is lost after it has held for a while, the
// next attempt follows after about as long at most, however many attempts failed before.
//
// Some attempts need no wait. After some ten of them without a wait in between, they come
// no faster than one a second, whatever a server answers.
//
// A Retry-After of the server is the least wait. No failure is final by default. If a
// resource does not exist, or the client must not read it, the reflector tries again after
// ever longer waits, up to [Backoff].PermanentMax; [Options].GiveUpAfter makes it give up.
// After a list that is larger than the Source accepts (listwatch.ErrListTooLarge), the
// first wait is already one of the longest.
//
// The reflector reports an object that it cannot read. The sink keeps the state that it
// has of the object, and Status.Unreadable has the object until it can be read or is gone.
// A first snapshot with such an object is a failed attempt, unless
// [Options].SkipUnreadable is set. If the event is a deletion, the sink is told that the
// object is gone, without an object, and nothing has failed. Only if the key or the
// version of a deletion cannot be read, the reflector takes a new snapshot after a wait,
// which shows which object is gone. If the name of an object cannot be read, it may be any
// object. Then the reflector takes no missing object of the snapshot for deleted, and
// takes another snapshot when the next watch has ended.
//
// # Guarantees
//
//   - The sink is called from Run's goroutine only, one call at a time. The first
//     call is a Replace.
//   - The sink has been told of the state that the server had at [Status].ResourceVersion,
//     except for objects that could not be read, whatever failed before. That holds for a
//     server that was restored from a backup as well, except for the three cases above.
//   - Every wait and every request ends when the context ends. When Run returns, none of
//     its goroutines, streams and timers remains, if the Source keeps its contract.
//   - The reflector does not recover panics of the Source, the Sink or a hook.
package reflector
