// Package warmstart keeps the content of an informer's store in a file, so that the
// next process begins with it and asks the server only for what has changed since.
//
//	file, err := warmstart.New("/var/cache/app/pods", warmstart.Protobuf[corev1.Pod](), warmstart.Options{Resource: "pods"})
//	inf, err := informer.New(pods, informer.Options[*corev1.Pod]{})
//	if err := file.Preload(inf); err != nil { // The informer will list, as without a file.
//		logger.Info("no warm start", "err", err)
//	}
//	go file.SaveEvery(ctx, inf.Store(), time.Minute)
//	inf.Run(ctx)
//
// In an [informer.Factory], or where the informer is made out of sight, the file goes
// into the options, Preload: file.Preload, and the store comes from the handle.
//
// What an informer does with it, and what "synced" then means, [informer.Preload]
// says. In short: handlers get the saved objects as Added, then true updates and
// deletes for what changed while nobody looked, from a watch that goes on at the
// saved resourceVersion, or from an ordinary list where the server has forgotten it.
//
// # What a file is good for
//
// A file is used if it is whole and holds the same kind of thing: Go type, codec,
// and everything in [Options] that says what the objects are. Otherwise Load returns
// an error that says why ([ErrDamaged], [ErrOther], [ErrNewerFormat], or that there
// is no file), and nothing has been loaded. An error is never a reason to end a
// program: the next Save replaces the file.
//
// Objects that were skipped, as they could not be decoded or an index function
// refused them, are not in the store, and so are missing from the file too: they come
// when they change next, as without a restart. A new release that could decode or
// index them, or that keeps more of each object, changes [Options].Projection, and
// begins with a list.
//
// # Format
//
// All numbers are big-endian or, as "n", unsigned varints.
//
//	8 bytes   "kinform\x00"
//	4 bytes   format, 1
//	n, bytes  header, in JSON: what the objects are, resourceVersion, count
//	count of  n, namespace, n, name, n, resourceVersion, 8 bytes hash of the UID, n, object
//	32 bytes  SHA-256 of everything before
//
// The checksum is verified before anything behind it is looked at. It guards
// against accidents, not against who may write the file.
//
// # Safety
//
// A file is written under another name, flushed to the disk and then renamed, so
// that there is always a whole one; its mode is 0600, for secrets are objects too.
// What a process that was killed in the middle has left, a later Save removes when it
// is an hour old.
// What is read is bounded by the size of the file and [Options].MaxBytes.
package warmstart
