// Package reflector keeps a [Sink] in step with a server. It takes a snapshot, hands it over whole,
// and then hands over every change, until its context ends. After each failure it retries by
// itself.
//
// # The machine
//
// A reflector is a state machine. [Reflector.Status] returns its [Phase], and an [Observer] is
// called at every step. state.go has all states, and testdata/steps.txt lists the next state for
// each reply in each state. In this picture, a failure follows a double line.
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
//	end, from  |      | response | after a  |
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
// plain/reflector.go has one state: list, then watch until something fails, then list again. Each
// list of 20,000 pods takes 2.30 s of CPU (plain/README.md). After an outage, ten thousand clients
// with plain's reflector would list everything from etcd at once. The reflector of this package
// resumes with a watch from the version at which the last watch was lost.
//
// # Where to find what
//
//   - The step after a failed watch, and after 410 Gone: watchFailed in watch.go.
//   - The first list, and each later list: list in list.go; for streaming lists, readStreamingList
//     in stream.go.
//   - A server that was restored from a backup: compare in compare.go.
//   - An undecodable object: handleUndecodableChange in watch.go, readPage in list.go.
//   - How long to wait: Backoff in backoff.go, FailureStreak in failures.go.
//
// # Snapshots
//
// The reflector requests the first list at version "0", which any server can serve from its cache.
// It requests each later list at the last version seen or a newer version. For a list in pages, the
// request permits a newer version explicitly. If the server no longer has this version, or does not
// have it yet, the reflector requests the most recent state at once. Each attempt begins with the
// last version again, until a list succeeds (RC-6).
//
// The reflector collects the pages of a list, and hands them over in one call of the [Sink]. If a
// continue token expires, or repeats the token of an earlier page, the reflector requests the whole
// list without pages. If a list falls silent, the reflector lists again. It refuses a snapshot that
// is older than the sink's version, until the server has sent six of them in a row; see
// [Options].AllowTimeTravel.
//
// The reflector collects a streaming list ([WatchList]) up to its end marker, with the changes that
// come in between. It hands the result over in the same way. If the server refuses streaming lists,
// or falls silent before the end marker, the reflector uses lists from then on. After any other
// failure, it uses one list, and then streaming lists again.
//
// # Watches
//
// A watch starts from the last version seen, which events and bookmarks move forward. A bookmark
// without a version is ignored. After a watch that ends in good order, the reflector opens the next
// one at once. When a watch fails, the reflector opens the next watch from the same version; unlike
// client-go, it does not list again. Without a version to resume from ("" or "0"), it lists,
// because a watch without a version does not show what was deleted meanwhile. If the version has
// become too old, the server responds with 410, and a list follows at once. The reflector waits
// only if the failure before was a 410 as well, because then the list did not help.
//
// When three consecutive watches fail although the server responds, the reflector lists, once a
// minute at most. So the sink still makes slow progress in these cases:
//
//   - Watches cannot pass a version, because of an undecodable event.
//   - A proxy breaks streams.
//   - The client may list the resource, but must not watch it (403).
//   - Watches do not work: 404, 405, 500, or 504 of a gateway that waits for the end of a watch.
//
// If nothing comes on a watch for a long time, not even a bookmark, the reflector treats the
// connection as dead; see [Options].WatchIdleTimeout. It reports the silence, but does not count it
// as a failure, because perhaps nothing has happened.
//
// # Another history
//
// A cluster that is restored from a backup has another history under the same address. Its versions
// have gone back, the writes after the backup are gone, and the same version may belong to another
// object. If a watch starts from a version that the restored server has not reached, the server is
// silent until its versions pass that version. Then it sends changes as if nothing had happened. So
// after a lost watch, the reflector compares histories on the next watch before it hands over
// events. (A watch is lost if it ended with an error or before its timeout: a server that stops
// ends its watches without an error.)
//
//   - The reflector lists one object, without decoding it, to get the server's most recent version.
//     If this version is lower than the sink's, the history is another one.
//   - The next watch begins just before the last event of the lost watch. If a different event
//     comes first, the history is another one. If no event comes within five seconds, a snapshot
//     follows.
//   - There may be no event to compare: none came since the last snapshot, or the server no longer
//     has it. Then a snapshot follows if the server was unreachable for a while. In this snapshot,
//     objects of the same version count as unchanged.
//
// When it has found another history, the reflector takes a snapshot of the most recent state, as if
// the sink were empty; see [listwatch.Snapshot]. It accepts the lower version if this snapshot
// confirms it.
//
// A late event has a lower version than an earlier event of the same watch. If the sink does not
// have the late version, the reflector compares histories as well, every five minutes at most. A
// snapshot follows, because an unusual server may show an object late, with an old version, and the
// snapshot has this object. If late events go on after the snapshot, the server numbers each object
// by itself, and the versions say nothing about the watch. Then the sink gets each event, in the
// order of arrival. A late bookmark is ignored.
//
// The comparison costs one small list for each lost watch, and one event that comes twice. Watches
// may be lost one after another, for example behind a proxy that cuts each connection after a
// second. Then the interval between these lists is at least one second, then two, four and so on,
// up to a minute. The same intervals apply to the snapshots. After five minutes without a
// comparison, the interval is one second again. Between two lists, the reflector compares only the
// event. If there is no event to compare, the reflector hands over the events of the watch, and
// does not compare them later. It asks the server to end this watch when the next list is due. So
// the reflector notices a restored cluster as soon as the server responds to a watch or, after many
// comparisons, up to a minute later. If the server does not end the watch in time, five seconds are
// added. If a server fails or forbids the list, the reflector watches anyway.
//
// The reflector does not notice another history in three cases. First, the server's versions have
// passed the known version, the client noticed no outage, and there is no event to compare. Second,
// the other history has the same object at the version of the compared event. Third, after the
// restore an object was written in exactly the version that the sink has of it, and there is no
// event to compare. The reflector does not compare Unordered events, such as the events of
// sources.Merge, because that source compares histories by itself. To be certain after a restore,
// restart the process, or run a new reflector. [Options].SkipComparison switches all comparisons
// off.
//
// # Failures
//
// The reflector reports every failure once, with the phase, the cause, and the wait that follows. A
// wait grows with the number of failures in a row, and only success resets this number. For
// snapshots, success is a whole snapshot. For watches, success is the first event or bookmark, or a
// watch that lasts for [Backoff].Max. A snapshot does not reset the number of failed watches: if
// the reflector can list a resource but not watch it, its waits go on growing.
//
// Attempts that reach no server, or a server that refuses the credentials (401), are counted
// separately. Their waits grow more slowly ([Backoff].OutageFactor). Any other failure resets this
// count. So if a server that has just started forbids everything, its response counts as a first
// failure. If a connection broke after some time, the next wait is at most about as long as the
// connection lasted, however many attempts failed before.
//
// Some attempts need no wait. After about ten attempts without a wait, the reflector makes at most
// one attempt a second, whatever the server responds.
//
// The reflector waits at least for the server's Retry-After. No failure is final by default. If a
// resource does not exist, or the client must not read it, the reflector tries again after ever
// longer waits, up to [Backoff].PermanentMax. With [Options].GiveUpAfter, Run returns instead.
// After a list that is larger than the Source accepts (listwatch.ErrListTooLarge), even the first
// wait is near PermanentMax.
//
// The reflector reports an undecodable object. The sink keeps its state of the object, and
// Status.Undecodable has the object until it is decodable or gone. A first snapshot with an
// undecodable object is a failed attempt, unless [Options].SkipUndecodable is set. If the object of
// a deletion is undecodable, the sink gets the deletion without an object. This is not a failure.
// If the key or the version of a deletion is undecodable, the reflector waits and takes a new
// snapshot, which shows which object is gone. An undecodable object without a readable name may be
// any object. So a snapshot with a nameless object deletes nothing. The reflector takes another
// snapshot when the next watch has ended.
//
// # Guarantees
//
//   - Only Run's goroutine calls the sink, one call at a time. The first call is a Replace.
//   - The reflector has handed the sink the state that the server had at [Status].ResourceVersion,
//     except for undecodable objects, whatever failed before. This is also true after a restore of
//     the server from a backup, except in the three cases above.
//   - Every wait and every request ends when the context ends. When Run returns, none of
//     its goroutines, streams and timers remains, if the Source keeps its contract.
//   - The reflector does not recover panics of the Source, the Sink or a hook.
package reflector
