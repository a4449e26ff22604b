// Package warmstart keeps the content of an informer's store in a file, so that the
// next process begins with it and asks the server only for what has changed since.
//
//	file, err := warmstart.New("/var/cache/app/pods", warmstart.Protobuf[corev1.Pod](), warmstart.Options{})
//	inf, err := informer.New(pods, informer.Options[*corev1.Pod]{Preload: file.Preload})
//	go file.SaveEvery(ctx, time.Minute)
//	inf.Run(ctx)
//
// In an [informer.Factory] the file goes into the options of Acquire in the same way.
//
// [informer.PreloadFrom] says what an informer does with it, and what "synced" then
// means. In short: once the server has said who it is and has let us read the resource,
// handlers get the saved objects as Added, then true updates and deletes for what
// changed while nobody looked, from a watch that goes on at the saved resourceVersion,
// or from an ordinary list where the server has forgotten it. Before that they get
// nothing, however long the server cannot be reached or refuses us.
//
// # What a file is good for
//
// A file is used if it is whole and holds the same objects. Its header is what the source
// has said of itself when the server was asked (listwatch.Describer): its address, the
// UID of the namespace kube-system, a hash of the user, the resource, selectors and
// projection. Beside that it has the Go type with the path of its package, a hash of the
// fields of that type, the version of k8s.io/api that the program is built with, the
// codec, and what [Options] say. Where anything of it is different, the file is not used,
// and an error says what differs ([ErrOther]); so it is with a file that is damaged
// ([ErrDamaged]), of another release's format ([ErrFormat]), or not to be trusted
// ([ErrUnsafe]). The informer logs that error and begins with a list, and the next Save
// replaces the file: it is never a reason to end a program.
//
// The history must be the same, too: the server must have the last change in the file,
// see [informer.Preload].
//
// Where the user may not get the namespace kube-system, nothing tells the cluster from
// another one at the same address. Then there is neither loading nor saving
// ([ErrUnknownSource]) before Options.Source names it.
//
// A store that lacks something is not saved ([ErrIncomplete]): neither as long as there
// are objects that could not be read, or that an index function refused, nor as long as
// a part of a merged source fails. The file of before remains, as it does where the disk
// is full; [File.SaveEvery] logs why.
//
// # Secrets
//
// A file holds no Secret unless [Options].Secrets asks for it: not from a source of
// Secrets, whatever they are decoded or transformed into, not of the type Secret, and no
// unstructured object of that kind. A source of your own that makes something of Secrets, and does
// not describe it, is not noticed. ConfigMaps and custom resources may have secrets in them,
// which only you know of.
//
// # Format
//
// All numbers are big-endian or, as "n", unsigned varints.
//
//	8 bytes   "kinform\x00"
//	4 bytes   format, 2
//	n, bytes  header, in JSON: what the objects are, resourceVersion, count
//	count of  n, namespace, n, name, n, resourceVersion, 8 bytes hash of the UID, n, object
//	32 bytes  SHA-256 of everything before
//
// The checksum is verified before anything behind it is looked at. It guards
// against accidents, not against who may write the file.
//
// # Who may write and read the file
//
// A file is read only if it is a regular one, no symbolic link (directories on the way
// may be), belongs to the user of the process or to root, and can be written neither by
// its group nor by others; nor read by them, where it may have Secrets. It is opened
// without waiting, so that a pipe in its place holds nothing up. On Windows, owner and
// mode are not looked at. Kubernetes lets the group write to all files of a volume with
// an fsGroup when it mounts it: such a pod needs fsGroupChangePolicy OnRootMismatch.
//
// It is written under another name in the same directory, with mode 0600, flushed to the
// disk and then renamed, so that there is always a whole one, also where two processes
// save to the same path: the one that renames last wins. Whatever stood in its place, be it
// a link or a pipe, is replaced and not followed. A user that may write to the directory
// can take the file away or bring back an older one of ours, which is then a file like
// any other. A later Save removes the file that a process has left which was killed in the middle,
// when that is an hour old.
//
// What is read is bounded by the size of the file and [Options].MaxBytes.
package warmstart
