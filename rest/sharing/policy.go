package sharing

// Policy says what objects may share with each other.
type Policy uint8

const (
	// Everything shares every equal part. It is for programs that are known to keep the contract of
	// the package.
	Everything Policy = iota

	// Immutable shares strings, the contents of managed fields (metadata.managedFields[].fieldsV1),
	// and the parts of a pod that cannot change once the pod exists. Such parts are the probes,
	// ports and environment of a container. No program has a reason to change these in place. It is
	// for programs that may break the contract for other parts. Decoder.Check finds programs that
	// change even the shared parts.
	//
	// An unstructured object counts as a pod only if its apiVersion and kind come before its other
	// fields, or are in the map that DecodeJSON is given.
	Immutable

	// StringsOnly shares only strings, which no program can change. All lists, maps and pointers
	// belong to one object, so that objects may be changed in place.
	StringsOnly
)
