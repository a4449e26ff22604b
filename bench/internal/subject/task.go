package subject

import (
	"context"
	"flag"
	"strconv"
)

// These are the encodings, modes and shapes of a client.
const (
	JSON     = "json"
	Protobuf = "protobuf"

	List      = "list"
	WatchList = "watchlist"

	Full     = "full"     // every field of a pod
	Stripped = "stripped" // without managedFields
	Metadata = "metadata" // only the metadata

	Unstructured = "unstructured" // every field, as maps and slices

	// These are without managedFields, which the program's transform has removed.
	Transformed             = "transformed"
	UnstructuredTransformed = "unstructured-transformed"
)

// Task describes how a client keeps all pods of a server in memory.
type Task struct {
	// URL is the server's address, and Name the User-Agent.
	URL, Name string

	// Encoding is JSON or Protobuf, Mode is List or WatchList, and Shape is the kept part of a pod.
	Encoding, Mode, Shape string

	// Unshared disables the sharing of parts between objects, which only kinform has.
	Unshared bool

	// Updated is called by the client's handler for each update.
	Updated func()

	profile string // prefix of profile files, or ""
}

// Args returns the command-line arguments for a process with this task.
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

// Informer is a measured client.
type Informer interface {
	// Run runs it until ctx ends.
	Run(ctx context.Context) error

	// Synced is closed when the handler has returned from every initial object.
	Synced() <-chan struct{}

	// Len returns the number of stored objects.
	Len() int

	// ResourceVersion returns the version of the last list, or of a later event.
	ResourceVersion() string
}
