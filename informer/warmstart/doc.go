// Package warmstart saves the content of an informer's store in a file, so that the next process
// begins with it and requests only the changes since then.
//
//	codec := warmstart.Protobuf[corev1.Pod]()
//	file, err := warmstart.New("/var/cache/app/pods", codec, warmstart.Options{})
//	inf, err := informer.New(pods, informer.Options[*corev1.Pod]{Preload: file.Preload})
//	go file.SaveEvery(ctx, time.Minute)
//	inf.Run(ctx)
//
// In an [informer.Factory] the file goes into the options of Acquire in the same way.
//
// [informer.PreloadFrom] documents how an informer uses the file, and what "synced" then means. In
// short: first the server must identify itself and permit reading the resource. Then handlers get
// the saved objects as Added, and after that true updates and deletes for the changes since the
// save. The changes come from a watch that resumes at the saved resourceVersion, or from a normal
// list if that version has expired. Until then handlers get nothing, however long the server is
// unreachable or refuses access.
//
// # When a file is used
//
// A file is used if it is complete and its header matches. The header has the source's description
// at the time of saving (listwatch.Describer): address, UID of the namespace kube-system, a hash of
// the user, resource, selectors and projection. The header also has the Go type with its package
// path, a hash of the type's fields, the version of k8s.io/api, the codec, and some [Options]. If
// anything differs, the file is not used, and an error names the difference ([ErrMismatch]). A file
// is also ignored if it is damaged ([ErrDamaged]), in another release's format ([ErrFormat]), or
// unsafe ([ErrUnsafe]). The informer logs the error and begins with a list, and the next Save
// replaces the file. The error never ends a program. The history must also match: the server must
// have the last change in the file, see [informer.Preload].
//
// If the user may not get the namespace kube-system, nothing distinguishes the cluster from another
// one at the same address. The file is then neither loaded nor saved ([ErrUnknownSource]), unless
// Options.Source is set.
//
// [File.Save] does not save an incomplete store ([ErrIncomplete]). A store is incomplete while
// objects are undecodable or refused by an index function, or while a part of a merged source
// fails. The earlier file then remains, also if the disk is full. [File.SaveEvery] logs the reason.
//
// # Secrets
//
// A file contains no Secret unless [Options].Secrets is set. The check covers sources of Secrets
// (whatever they are decoded or transformed into), the type Secret, and unstructured objects of
// that kind. The check does not detect a custom source that derives objects from Secrets and does
// not describe itself. ConfigMaps and custom resources may also contain secrets, which the check
// cannot know.
//
// # Format
//
// All numbers are big-endian; "n" is an unsigned varint.
//
//	8 bytes   "kinform\x00"
//	4 bytes   format, 2
//	n, bytes  header, in JSON: what the objects are, resourceVersion, count
//	count of  n, namespace, n, name, n, resourceVersion, 8 bytes hash of the UID, n, object
//	32 bytes  SHA-256 of everything before
//
// The checksum is verified before anything else is read. The checksum detects accidents, not
// malicious changes.
//
// # Who may write and read the file
//
// A file is read only if it is a regular file and not a symbolic link (directories in its path may
// be links). The file must belong to the process's user or root, and not be writable by group or
// others. If the file may contain Secrets, group and others must not be able to read it either. The
// file is opened without blocking, so a pipe in its place does not block the process. On Windows,
// owner and mode are not checked. Kubernetes makes all files of a volume with an fsGroup
// group-writable when it mounts the volume: such a pod needs fsGroupChangePolicy OnRootMismatch.
//
// A file is written under another name in the same directory with mode 0600, flushed to the disk
// and then renamed. So there is always a complete file, even if two processes save to the same
// path: the last rename wins. A link, pipe or other file at the path is replaced and not followed.
// A user with write access to the directory can remove the file, or restore an older one, which
// then counts as valid. A process that is killed while saving leaves a temporary file; a later Save
// removes it when it is an hour old.
//
// The size of the file and [Options].MaxBytes bound how much is read.
package warmstart
