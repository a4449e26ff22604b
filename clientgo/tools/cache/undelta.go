package cache

// UndeltaStore is a Store that calls PushFunc with all objects after each change.
type UndeltaStore struct {
	Store
	PushFunc func([]interface{})
}

// NewUndeltaStore returns an empty UndeltaStore.
func NewUndeltaStore(pushFunc func([]interface{}), keyFunc KeyFunc) *UndeltaStore {
	return &UndeltaStore{Store: NewStore(keyFunc), PushFunc: pushFunc}
}

func (u *UndeltaStore) pushed(err error) error {
	if err == nil {
		u.PushFunc(u.List())
	}
	return err
}

// Add calls Store.Add, then PushFunc.
func (u *UndeltaStore) Add(obj interface{}) error { return u.pushed(u.Store.Add(obj)) }

// Update calls Store.Update, then PushFunc.
func (u *UndeltaStore) Update(obj interface{}) error { return u.pushed(u.Store.Update(obj)) }

// Delete calls Store.Delete, then PushFunc.
func (u *UndeltaStore) Delete(obj interface{}) error { return u.pushed(u.Store.Delete(obj)) }

// Replace calls Store.Replace, then PushFunc once.
func (u *UndeltaStore) Replace(list []interface{}, resourceVersion string) error {
	return u.pushed(u.Store.Replace(list, resourceVersion))
}
