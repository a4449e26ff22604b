// Package sources makes sources for an informer out of other sources. Each stands between an
// informer and a server, and is a listwatch.Source itself:
//
//   - [Merge] combines several sources, such as the permitted namespaces.
//   - [Transform] changes or replaces each object before it is stored.
//   - [Resume] begins with the state of an earlier process; informer.Preload uses it.
//
// The tests of a merged source with a faulty server, and of preloaded stores, use the rig of
// package informer and are there.
//
// # Merged sources
//
// All guarantees of an informer hold for a merged source, with these consequences:
//
//   - The version of a list is the oldest version of its parts. The version of the store is the
//     version through which all parts are complete, so G8 holds. This version advances when the
//     slowest part has an event or a bookmark. With a quiet part, WaitRV may have to wait for the
//     server's next bookmark, about a minute. To read one's own write, wait for the object (package
//     await) instead.
//   - Changes of different parts are delivered in the order of their arrival. Changes of one key
//     keep the server's order (G1).
//   - The first list is complete, or fails: with the error of the first part that
//     cannot be listed. See MergeOptions.Tolerate.
//   - After that, a failing part does not stop the others. The stored objects of that part stay,
//     the part is retried alone, and Status.Parts and Healthy name the part. The reflector's time
//     limits apply to each part separately.
//   - If a part's watch has failed three times in a row, or its version has expired, all parts
//     are listed. Unchanged objects are not decoded again.
//   - If a part reports a change whose version its watch has already passed, all parts are listed,
//     at most once in five minutes. Within the five minutes, such changes are delivered without a
//     list.
//   - If a part has no version to resume its watch from, all parts are listed when its watch ends,
//     because its server does not report deletions in between.
//   - When all parts fail, the list or the watch as a whole fails.
//   - An undecodable object of a part stays undecodable while the part is not listed: Status,
//     Healthy and the store's Undecodable still name it.
//   - A restore of the cluster from a backup is detected as with a single source (see package
//     reflector, Another history). After a lost watch, each part compares the server's version, and
//     resumes with the last event that it delivered. If the server sends another event instead, all
//     parts are listed as if nothing were known. A part compares only versions if it has delivered
//     no event since it was opened, or is a merged source itself. If one part detects another
//     history, all parts are listed.
//   - A preloaded store does not know which part an object belongs to. Until the first list has
//     succeeded, a part that cannot be listed makes the whole list fail.
package sources
