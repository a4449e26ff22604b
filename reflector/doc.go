// Package reflector keeps a [Sink] in step with a server. It takes a snapshot, hands it over whole,
// and then hands over every change, until its context ends. After each failure it retries by
// itself.
//
// # The machine
//
// A reflector is a state machine. [Reflector.Status] has its [Phase], and an [Observer] is called
// at every step. state.go has all states, and testdata/steps.txt lists the next state for each
// reply in each state. In this picture, a failure follows a double line.
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
// plain/reflector.go has one state: list, then watch until something fails, then list again. For
// 20,000 pods this takes 2.30 s of CPU (plain/README.md), and after an outage ten thousand of these
// reflectors would list everything from etcd at once. This reflector resumes with a watch from the
// version at which the last watch was lost.
//
// # Where to find what
//
//   - The step after a failed watch, and after 410 Gone: watchFailed in watch.go.
//   - The first list, and each later list: list in list.go; for streaming lists, collect in
//     stream.go.
//   - A server that was restored from a backup: compare in compare.go.
//   - An undecodable object: unreadChange in watch.go, readPage in list.go.
//   - How long to wait: Backoff in backoff.go, Row in row.go.
//
// # Snapshots
//
// The reflector requests the first list at version "0", which any server can answer from its cache.
// It requests each later list at the last version seen or a newer one; for a list in pages, the
// request says "or a newer one" explicitly. If the server no longer has this version, or does not
// have it yet, the reflector requests the most recent state at once. It does so in each attempt
// until a list succeeds (RC-6).
//
// The reflector collects pages, and hands them over in one call of the [Sink]. When a continue
// token expires, or is the token of an earlier page, it requests the whole list without pages. If a
// list falls silent, it tries again. It refuses a snapshot that is older than the sink's version,
// unless the server keeps sending such snapshots; see [Options].AllowTimeTravel.
//
// The reflector collects a streaming list ([WatchList]) up to its end marker, changes in between
// included, and hands it over in the same way. If the server refuses streaming lists, or falls
// silent before the end marker, the reflector uses lists from then on. After any other failure, it
// uses one list, and then streaming lists again.
//
// # Watches
//
// A watch starts from the last version seen, which events and bookmarks move forward. A bookmark
// without a version is ignored. After a watch that ends in good order, the reflector opens the next
// one at once. When a watch fails, the reflector opens the next one from the same version; unlike
// client-go, it does not list again. Without a version to resume from ("" or "0"), it lists,
// because a watch without a version does not show what was deleted meanwhile. If the version has
// become too old, the server answers 410, and a list follows at once. There is a wait only if the
// last failure was a 410 as well: then the list did not help.
//
// When watches fail three times in a row although the server answers, the reflector takes a list in
// between, once a minute at most. So the sink still makes progress, slowly, in these cases: watches
// cannot pass a version, because of an undecodable event; a proxy breaks streams; the client may
// list the resource, but must not watch it (403); watches do not work (404, 405, 500, or 504 of a
// gateway that waits for the end of a watch).
//
// If nothing comes on a watch for a long time, not even a bookmark, the reflector takes the
// connection to be dead; see [Options].WatchIdleTimeout. It reports the silence, but does not count
// it as a failure, because perhaps nothing has happened.
//
// # Another history
//
// A cluster that is restored from a backup has another history under the same address. Its versions
// have gone back, the writes after the backup are gone, and the same version may belong to another
// object. If a watch starts from a version in the future, the server is silent until its versions
// have passed that version. Then it sends changes as if nothing had happened. So after a lost
// watch, the reflector compares histories on the next watch before it hands over events. (A watch
// was lost unless it ended in good order and in time: a server that stops ends its watches in good
// order as well.)
//
//   - A list of one object, which is not decoded, has the server's most recent version. If this
//     version is lower than the sink's, the history is another one.
//   - The next watch begins just before the last event of the lost watch. If a different event
//     comes first, the history is another one. If no event comes within five seconds, a snapshot
//     follows.
//   - There may be no event to compare: none came since the last snapshot, or the server no longer
//     has it. Then a snapshot follows if the server was unreachable for a while. It compares by
//     version.
//
// After it has found another history, the reflector takes a snapshot of the most recent state, as
// if the sink had nothing; see [Restorer]. It accepts a lower version as soon as this snapshot
// confirms it.
//
// An event may come when the watch has passed its version. If the sink does not have this version,
// the reflector compares as well, every five minutes at most. A snapshot follows: an unusual server
// may show an object late, with an old version, and the snapshot has this object. If late events go
// on after the snapshot, the server's objects have versions of their own, which say nothing about
// the watch. Then the sink gets each event, in the order of arrival. A bookmark of a version that
// the watch has passed is ignored.
//
// The price is one small list for each lost watch, and one event that comes twice. Watches may be
// lost one after another, for example behind a proxy that cuts each connection after a second. Then
// the lists come one second apart, then two, four and so on, up to a minute; so do the snapshots.
// After five minutes without a lost watch, the interval is one second again. Between two lists,
// only the event is compared. If there is no event to compare, the reflector hands over the events
// of the watch, and asks the server to end it when the next list is due. These events are not
// compared later. So the reflector finds a restored cluster as soon as the server answers a watch
// or, after many comparisons, up to a minute later. It takes five seconds more if the server does
// not end the watch in time. If a server fails or forbids the list, the reflector watches anyway.
//
// The reflector does not find another history in three cases. First, the server's versions have
// passed the known version, the client noticed no outage, and there is no event to compare. Second,
// the other history has the same object at the version of the compared event. Third, an object was
// written again in exactly the version that the sink has, and there is no event to compare.
// Unordered events, such as the events of sources.Merge, are not compared here: that source
// compares by itself. To be certain after a restore, restart the process, or run a new reflector.
// [Options].SkipComparison switches all of this off.
//
// # Failures
//
// The reflector reports every failure once, with the phase, the cause, and the wait that follows.
// Waits grow with each failure in a row, and only success ends a row. For snapshots, success is a
// whole snapshot. For watches, it is the first event or bookmark, or a time of [Backoff].Max
// without a failure. A snapshot does not end a row of failed watches: if the reflector can list a
// resource but not watch it, its waits go on growing.
//
// Attempts that reach no server, or a server that does not know the client (401), have a row of
// their own. Its waits grow more slowly ([Backoff].OutageFactor), and any other response ends it:
// if a server that has just started forbids everything, this is the first failure of a new row. If
// a connection breaks after it has held for some time, the next attempt follows after about the
// same time at most, however many attempts failed before.
//
// Some attempts need no wait. After about ten of them without a wait in between, they come no
// faster than one a second, whatever the server answers.
//
// A Retry-After of the server is the shortest wait. No failure is final by default. If a resource
// does not exist, or the client must not read it, the reflector tries again after ever longer
// waits, up to [Backoff].PermanentMax; [Options].GiveUpAfter makes it give up. After a list that is
// larger than the Source accepts (listwatch.ErrListTooLarge), even the first wait is one of the
// longest.
//
// The reflector reports an undecodable object. The sink keeps its state of the object, and
// Status.Unreadable has the object until it is decodable or gone. A first snapshot with an
// undecodable object is a failed attempt, unless [Options].SkipUnreadable is set. If the event is a
// deletion, the sink gets a deletion without an object, and nothing has failed. Only if the key or
// the version of a deletion is unreadable, the reflector waits and takes a new snapshot, which
// shows which object is gone. An object without a readable name may be any object. Then the
// reflector takes no missing object of the snapshot for deleted, and takes another snapshot when
// the next watch has ended.
//
// # Guarantees
//
//   - Only Run's goroutine calls the sink, one call at a time. The first call is a Replace.
//   - The sink has been handed the state that the server had at [Status].ResourceVersion, except
//     for undecodable objects, whatever failed before. This is also true of a server that was
//     restored from a backup, except in the three cases above.
//   - Every wait and every request ends when the context ends. When Run returns, none of
//     its goroutines, streams and timers remains, if the Source keeps its contract.
//   - The reflector does not recover panics of the Source, the Sink or a hook.
package reflector
