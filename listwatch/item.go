package listwatch

import "k8s.io/apimachinery/pkg/types"

// Item is one object with its identity and version. The receiver owns it. The stream and other
// items do not use its memory, with one exception: objects may share parts that nobody may change;
// see Shared.
type Item[T any] struct {
	// Key is the object's namespace and name; the namespace of a cluster-scoped
	// object is "".
	Key types.NamespacedName

	// Object is the decoded object, or the zero T if State is not [Decoded].
	Object T

	// ResourceVersion is the version of the object, as the server sent it. It is "" if State is
	// [Undecodable] in a [Snapshot].
	ResourceVersion string

	// UIDHash is [HashUID] of the object's UID, or 0 if the UID is not known. It distinguishes an
	// object from an earlier, deleted object with the same key.
	UIDHash uint64

	// Shared is true if the object may share parts with other objects, so that nobody may change it
	// in place. A transform gets a copy of a shared object.
	Shared bool

	// State says whether the item has its object, and if not, why.
	State ItemState
}

// ItemState says whether an [Item] has its object, and if not, why.
type ItemState uint8

const (
	// Decoded is the state of an item that has its object.
	Decoded ItemState = iota

	// Unchanged is the state of an item whose object was not decoded, because Known returned true
	// for its key, version and UID: the receiver has this object.
	Unchanged

	// Undecodable is the state of an item whose object could not be decoded. No stream returns such
	// an item: Next returns an [*ObjectError] instead. A reflector makes the item for its sink.
	Undecodable
)

// Snapshot is the set of all objects of a [Source] at one version.
type Snapshot[T any] struct {
	// Items has one item for each object whose name is known.
	Items []Item[T]

	// ResourceVersion is the version of the snapshot. It is "" or "0" if the server does not say
	// which state the snapshot shows.
	ResourceVersion string

	// NamesMissing is true if the names of some objects could not be decoded, so that Items lacks
	// these objects. An object that Items lacks may then exist.
	NamesMissing bool

	// OtherHistory is true if the server has another history than the receiver's state, as after a
	// restore of the cluster from a backup. An object of the receiver may then differ from the
	// server's object although both have the same version, so no item is Unchanged.
	// ResourceVersion may be lower than the receiver's version.
	OtherHistory bool
}
