package sharing

import "reflect"

// unchanged reports whether a value that objects share, the argument now, equals the argument
// before, decoded again from the same bytes. It is like reflect.DeepEqual, except that a program
// may be changing the shared value meanwhile. So it reads at most as many elements of the shared
// value as the decoded value has, and reads maps through mapView. A map that is being written
// counts as equal, until the next check.
func unchanged(before, now reflect.Value) bool {
	switch before.Kind() {
	case reflect.Map:
		return unchangedMap(before, now)
	case reflect.Slice, reflect.Array:
		if before.Kind() == reflect.Slice && before.IsNil() != now.IsNil() || before.Len() != now.Len() {
			return false
		}
		for i := range before.Len() {
			if !unchanged(before.Index(i), now.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range before.NumField() {
			if !unchanged(before.Field(i), now.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Pointer, reflect.Interface:
		if before.IsNil() || now.IsNil() {
			return before.IsNil() == now.IsNil()
		}
		if before.Kind() == reflect.Pointer && before.UnsafePointer() == now.UnsafePointer() {
			return true // the location of a time
		}
		before, now = before.Elem(), now.Elem()
		return before.Type() == now.Type() && unchanged(before, now)
	case reflect.String:
		return before.String() == now.String()
	}
	switch {
	case before.Kind() == reflect.Bool:
		return before.Bool() == now.Bool()
	case before.CanInt():
		return before.Int() == now.Int()
	case before.CanUint():
		return before.Uint() == now.Uint()
	case before.CanFloat():
		return before.Float() == now.Float()
	}
	return true
}

func unchangedMap(before, now reflect.Value) bool {
	if before.IsNil() != now.IsNil() || before.Len() != now.Len() {
		return false
	}
	if before.Len() == 0 {
		return true
	}
	entries, ok := mapView(now)
	if !ok {
		return true
	}
	for each := before.MapRange(); each.Next(); {
		if value := entries.MapIndex(each.Key()); !value.IsValid() || !unchanged(each.Value(), value) {
			return false
		}
	}
	return true
}
