package subject

import (
	"context"
	"flag"
	"strconv"
)

// The encodings, modes and shapes that a client can be asked for.
const (
	JSON     = "json"
	Protobuf = "protobuf"

	List      = "list"
	WatchList = "watchlist"

	Full     = "full"     // every field of a pod
	Stripped = "stripped" // without managedFields
	Metadata = "metadata" // nothing but the metadata

	Unstructured = "unstructured" // every field, as maps and slices

	// Without managedFields, which a transform of the program's has removed.
	Transformed             = "transformed"
	UnstructuredTransformed = "unstructured-transformed"
)

// Task tells a client how to keep all pods of a server in memory.
type Task struct {
	// URL is where the server is, and Name what to send as User-Agent.
	URL, Name string

	// Encoding is JSON or Protobuf, Mode List or WatchList, and Shape what to keep
	// of a pod.
	Encoding, Mode, Shape string

	// Unshared is whether objects share nothing where they would by default, which only
	// kinform's do.
	Unshared bool

	// Updated is to be called by the handler for each update.
	Updated func()

	profile string // prefix of the files with profiles, "" for none
}

// Args are the arguments for a process that shall do it.
func (t Task) Args(profile string) []string {
	return []string{"-url", t.URL, "-name", t.Name, "-encoding", t.Encoding, "-mode", t.Mode, "-shape", t.Shape, "-unshared=" + strconv.FormatBool(t.Unshared), "-profile", profile}
}

func parseTask() Task {
	var t Task
	flag.StringVar(&t.URL, "url", "", "address of the API server")
	flag.StringVar(&t.Name, "name", "bench", "User-Agent")
	flag.StringVar(&t.Encoding, "encoding", Protobuf, "json or protobuf")
	flag.StringVar(&t.Mode, "mode", List, "list or watchlist")
	flag.StringVar(&t.Shape, "shape", Full, "full, stripped, metadata, transformed, unstructured or unstructured-transformed")
	flag.BoolVar(&t.Unshared, "unshared", false, "let objects share nothing")
	flag.StringVar(&t.profile, "profile", "", "prefix of the files to write profiles to")
	flag.Parse()
	return t
}

// Informer is a client under measurement.
type Informer interface {
	// Run runs it until ctx ends.
	Run(ctx context.Context) error

	// Synced is closed when the handler has returned from every initial object.
	Synced() <-chan struct{}

	// Len is how many objects it holds.
	Len() int

	// ResourceVersion is the version of its last list, or of a later event.
	ResourceVersion() string
}
