package warmstart

import "log/slog"

// Options are the choices of a [File]. The zero value is ready to use with a source
// that says which objects it has: a listwatch.Describer, such as a rest.Resource whose
// user may get the namespace kube-system.
type Options struct {
	// Source says where the objects come from, in any words, so that a file of others
	// is not used. It is needed where the source does not say it: where it is no
	// listwatch.Describer, or the server does not show us the namespace kube-system,
	// whose UID tells one cluster from another at the same address. It must change
	// whenever the cluster does. Defaults to "": what the source says has to do.
	Source string

	// Projection is a name for what is kept of each object: for what a transform, or
	// a decoder of your own, leaves out or changes. Change it whenever that changes.
	// What a rest.Resource drops (ResourceOptions.Project), and the fields of the
	// type, need no name. Defaults to "".
	Projection string

	// Secrets allows Secrets in the file: whoever can read the disk, or a backup of
	// it, has them then. Defaults to false: a source of Secrets, the type Secret, and
	// objects of that kind are neither written nor read ([ErrSecrets]).
	Secrets bool

	// MaxBytes is the size beyond which a file is not read. Defaults to 1 GiB.
	MaxBytes int64

	// Logger gets a warning when SaveEvery can not save, another one every five minutes
	// while that lasts, and a line when it can again. Why a file was not used is in the
	// log of the informer. Defaults to slog.Default().
	Logger *slog.Logger

	// OnError is told why a file was not used, in Run of the informer, and when
	// SaveEvery could not save, which it tries again after the next interval. It may
	// be called from several goroutines. Defaults to nil: both are logged.
	OnError func(error)
}
