//go:build !go1.26 || go1.27

package sharing

import "reflect"

// readable does not know how maps of this Go can be read while they are being written. So Check looks at no more than their lengths.
func readable(reflect.Value) (entries reflect.Value, ok bool) { return reflect.Value{}, false }
