//go:build !go1.26 || go1.27

package sharing

import "reflect"

// readable returns false, because it is unknown how maps of this Go version can be read while they
// are being written. So Check looks only at their lengths.
func readable(reflect.Value) (entries reflect.Value, ok bool) { return reflect.Value{}, false }
