package sharing

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// excerptBytes is the length at which an excerpt is cut off.
const excerptBytes = 300

// excerpt formats the value that v points to. A program may be changing the value, so excerpt reads
// maps through mapView, as unchanged does.
func excerpt(v reflect.Value) string {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	var text strings.Builder
	write(&text, v)
	if text.Len() > excerptBytes {
		return text.String()[:excerptBytes] + "..."
	}
	return text.String()
}

// write appends a value in the format of %+v, and follows pointers. Each level appends something,
// so that writing ends even for a map that contains itself.
func write(to *strings.Builder, v reflect.Value) {
	if to.Len() > excerptBytes {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if quantity, is := quantityOf(v); is {
			to.WriteString(quantity.String())
			return
		}
		writeAll(to, "{", v.NumField(), "}", func(i int) {
			to.WriteString(v.Type().Field(i).Name + ":")
			write(to, v.Field(i))
		})
	case reflect.Slice, reflect.Array:
		writeAll(to, "[", v.Len(), "]", func(i int) { write(to, v.Index(i)) })
	case reflect.Map:
		writeMap(to, v)
	case reflect.Pointer:
		to.WriteString("&")
		write(to, v.Elem())
	case reflect.Interface:
		write(to, v.Elem())
	case reflect.Invalid:
		to.WriteString("nil")
	default:
		fmt.Fprint(to, v)
	}
}

func writeMap(to *strings.Builder, m reflect.Value) {
	if m.Len() == 0 {
		to.WriteString("map[]")
		return
	}
	entries, ok := mapView(m)
	if !ok {
		fmt.Fprintf(to, "map[%d entries]", m.Len())
		return
	}
	keys := entries.MapKeys()
	writeAll(to, "map[", len(keys), "]", func(i int) {
		fmt.Fprintf(to, "%v:", keys[i])
		write(to, entries.MapIndex(keys[i]))
	})
}

func writeAll(to *strings.Builder, begin string, n int, end string, one func(i int)) {
	to.WriteString(begin)
	for i := 0; i < n && to.Len() <= excerptBytes; i++ {
		if i > 0 {
			to.WriteByte(' ')
		}
		one(i)
	}
	to.WriteString(end)
}

func quantityOf(v reflect.Value) (q resource.Quantity, ok bool) {
	if !v.CanInterface() {
		return q, false
	}
	q, ok = v.Interface().(resource.Quantity)
	return q, ok
}
