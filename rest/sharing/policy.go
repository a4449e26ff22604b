package sharing

// Policy says what objects may share with each other.
type Policy uint8

const (
	// Everything shares every equal part. This policy is for programs that never change a decoded
	// object in place.
	Everything Policy = iota

	// Immutable shares strings, the contents of managed fields (metadata.managedFields[].fieldsV1),
	// and the parts of a pod that cannot change once the pod exists. Such parts are the probes,
	// ports and environment of a container. No program has a reason to change these in place. This
	// policy is for programs that may change other parts in place. Decoder.Check finds changes of
	// the shared parts.
	//
	// An unstructured object counts as a pod only if its apiVersion and kind come first, or are in
	// the map that the caller passes to DecodeJSON.
	Immutable

	// StringsOnly shares only strings, which no program can change. All lists, maps and pointers
	// belong to one object, so that objects may be changed in place.
	StringsOnly
)
