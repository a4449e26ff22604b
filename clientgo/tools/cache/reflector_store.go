package cache

// ReflectorStore is the target that a reflector keeps in step with the server: a queue, a [Store],
// or a program's own implementation. The reflector calls one method at a time.
type ReflectorStore interface {
	Add(obj interface{}) error
	Update(obj interface{}) error
	Delete(obj interface{}) error
	// Replace replaces all objects, as of this version. The store owns the slice from then on.
	Replace([]interface{}, string) error
	// Resync makes a queue deliver its known objects again. In a Store it does nothing.
	Resync() error
}

// TransformFunc changes or replaces an object before it is stored. It must accept its own results.
type TransformFunc func(interface{}) (interface{}, error)
