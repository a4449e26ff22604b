package storage

// Flags describe built-in types for discovery and for writes.
type Flags uint8

// The flags of the built-in types.
const (
	Namespaced                 Flags = 1 << iota
	Status                           // has a status subresource
	InCategoryAll                    // is shown by "kubectl get all"
	Scalable                         // has a scale subresource
	PodSubresources                  // has the subresources of pods
	NamespaceSubresources            // has the subresources of namespaces
	ServiceAccountSubresources       // has the subresources of service accounts

	// CreateOnUpdate means that an update creates a missing object (AllowCreateOnUpdate in the real
	// server).
	CreateOnUpdate
)
