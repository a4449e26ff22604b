package warmstart

import "log/slog"

// Options configures a [File]. The zero value is ready to use with a source that identifies its
// objects: a listwatch.Describer, such as a rest.Resource whose user may get the namespace
// kube-system.
type Options struct {
	// Source is a name for the origin of the objects, in any words. A file from another source is
	// not used. It is required if the source does not identify itself: it is not a
	// listwatch.Describer, or the user may not get the namespace kube-system, whose UID
	// distinguishes clusters at the same address. It must change whenever the cluster changes.
	// Defaults to "": the source's description is used alone.
	Source string

	// Projection names the fields that are kept of each object, if a transform or a custom decoder
	// drops or changes fields. Change the name whenever these fields change. It need not cover the
	// fields that a rest.Resource drops (ResourceOptions.Project), nor the fields of the type.
	// Defaults to "".
	Projection string

	// Secrets permits Secrets in the file: everyone who can read the disk or its backup can then
	// read them. Defaults to false: a source of Secrets, the type Secret, and objects of that kind
	// are neither written nor read ([ErrSecrets]).
	Secrets bool

	// MaxBytes is the maximum size of a file that is read. Defaults to 1 GiB.
	MaxBytes int64

	// Logger receives a warning when SaveEvery cannot save, another one every five minutes while
	// that lasts, and a line when it is over. The informer's log says why a file was not used.
	// Defaults to slog.Default().
	Logger *slog.Logger

	// OnError receives two kinds of errors: why a file was not used, in Run of the informer, and
	// why SaveEvery could not save. SaveEvery retries after the next interval. OnError may be
	// called from several goroutines. Defaults to nil. Both kinds of errors are also logged.
	OnError func(error)
}
