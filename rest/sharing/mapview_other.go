//go:build !go1.26 || go1.27

package sharing

import "reflect"

// mapView always returns false, because it is unknown how to read maps of this Go version while
// they are being written. So Check compares only their lengths.
func mapView(reflect.Value) (entries reflect.Value, ok bool) { return reflect.Value{}, false }
