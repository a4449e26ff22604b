package cache

// ReflectorStore is what a reflector keeps in step with the server: a queue, a [Store], or a program's own. The
// reflector calls one method at a time.
type ReflectorStore interface {
	Add(obj interface{}) error
	Update(obj interface{}) error
	Delete(obj interface{}) error
	// Replace makes these the only objects, as of this version. The slice belongs to the store from then on.
	Replace([]interface{}, string) error
	// Resync has the store hand out its objects again, if it is one that does.
	Resync() error
}

// TransformFunc changes an object, or returns another, before it is stored. It must cope with its own results.
type TransformFunc func(interface{}) (interface{}, error)
