//go:build !go1.26 || go1.27

package sharing

import "reflect"

// mapView always returns false, because nothing is known about reading maps of this Go version
// during a write. So Check compares only their lengths.
func mapView(reflect.Value) (entries reflect.Value, ok bool) { return reflect.Value{}, false }
