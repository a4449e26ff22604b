package cache

// UndeltaStore is a Store that calls PushFunc with all objects after each change.
type UndeltaStore struct {
	Store
	PushFunc func([]interface{})
}

// NewUndeltaStore returns an empty one.
func NewUndeltaStore(pushFunc func([]interface{}), keyFunc KeyFunc) *UndeltaStore {
	return &UndeltaStore{Store: NewStore(keyFunc), PushFunc: pushFunc}
}

func (u *UndeltaStore) pushed(err error) error {
	if err == nil {
		u.PushFunc(u.List())
	}
	return err
}

// Add is Store.Add, then PushFunc.
func (u *UndeltaStore) Add(obj interface{}) error { return u.pushed(u.Store.Add(obj)) }

// Update is Store.Update, then PushFunc.
func (u *UndeltaStore) Update(obj interface{}) error { return u.pushed(u.Store.Update(obj)) }

// Delete is Store.Delete, then PushFunc.
func (u *UndeltaStore) Delete(obj interface{}) error { return u.pushed(u.Store.Delete(obj)) }

// Replace is Store.Replace, then PushFunc once.
func (u *UndeltaStore) Replace(list []interface{}, resourceVersion string) error {
	return u.pushed(u.Store.Replace(list, resourceVersion))
}
