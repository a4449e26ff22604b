package rest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kinform/kinform/rest/internal/budget"
	"github.com/kinform/kinform/rest/internal/decode"
	"github.com/kinform/kinform/rest/internal/wire"
)

// deepSize returns the approximate memory that a value refers to, without the value itself.
func deepSize(v reflect.Value) (size int) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			size = int(v.Type().Elem().Size()) + deepSize(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			size = deepSize(v.Elem())
		}
	case reflect.String:
		size = v.Len()
	case reflect.Slice:
		size = v.Cap() * int(v.Type().Elem().Size())
		for i := 0; i < v.Len() && v.Type().Elem().Kind() != reflect.Uint8; i++ {
			size += deepSize(v.Index(i))
		}
	case reflect.Map:
		for iter := v.MapRange(); iter.Next(); {
			size += int(v.Type().Elem().Size()+v.Type().Key().Size()) + deepSize(iter.Key()) + deepSize(iter.Value())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			size += deepSize(v.Field(i))
		}
	}
	return size
}

// FuzzMemoryEstimate decodes the objects that the estimate accepts. The decoded objects must stay
// within their memory budget, and a type that contains itself must not be too deep.
func FuzzMemoryEstimate(f *testing.F) {
	for _, pod := range smallPods() {
		f.Add(marshal(f, &pod))
		f.Add(encode(f, JSON, "Pod", &pod))
	}
	f.Add(bombPod(Protobuf, "a", 300))
	f.Add(bombPod(JSON, "a", 300))
	for _, number := range []int{2, 3, 4} {
		f.Add(nest(number, 30))
	}
	f.Add([]byte(`{"spec":{"containers":[null,null,{"ports":[{}]}],"volumes":[{"ephemeral":{"volumeClaimTemplate":{}}}]}}`))
	f.Add([]byte(`{"in":{"list":[{"map":{"\u0061":{"in":null}}}]}}`))
	f.Add([]byte(`{"a":[[],{"":{"":[0,"x"]}}]} `))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4<<10 {
			return
		}
		for _, typ := range []reflect.Type{reflect.TypeFor[*corev1.Pod](), reflect.TypeFor[*recursiveMessage](), reflect.TypeFor[*unstructured.Unstructured]()} {
			s := budget.New(typ, budget.Limits{Expansion: 8, Memory: 1 << 20, Depth: 12})
			var scan wire.JSONScan
			length, complete := scan.End(data)
			for _, e := range encodings {
				if s.Check(wire.Encoding(e), data, scan.Size) != nil {
					continue
				}
				d := decoderOf(typ)
				if e == Protobuf && !d.Protobuf() || e == JSON && (!complete || strings.TrimSpace(string(data[length:])) != "") {
					continue
				}
				var object any
				if wire.CatchPanic(func() (err error) {
					object, err = d.Decode(wire.Encoding(e), data, &wire.Envelope{})
					return err
				}) != nil {
					continue
				}
				// The limit includes the parts that are not counted, and the capacities that an
				// append doubles.
				require.LessOrEqual(t, deepSize(reflect.ValueOf(object).Elem()), 4<<10+2*(8+67)*(len(data)+64), "%s %s", typ, e)
				if deep, ok := object.(*recursiveMessage); ok && e == Protobuf {
					require.LessOrEqual(t, deep.levels, 12)
				}
			}
		}
	})
}

func decoderOf(t reflect.Type) decode.Decoder {
	switch t {
	case reflect.TypeFor[*corev1.Pod]():
		return pods(&Client{}).items.Single
	case reflect.TypeFor[*recursiveMessage]():
		return Must(NewResource[*recursiveMessage](&Client{}, plainGVR, ResourceOptions{})).items.Single
	}
	return Must(NewJSONResource[*unstructured.Unstructured](&Client{}, plainGVR, ResourceOptions{})).items.Single
}
