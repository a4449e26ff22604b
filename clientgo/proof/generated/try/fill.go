package main

import (
	"context"
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// filler makes values in which every field is set, and no two fields are equal. The first value of
// a type is the same for all fillers.
type filler struct {
	n    int
	path []reflect.Type
}

// filledValue returns a value of type t.
func filledValue(t reflect.Type) reflect.Value { return new(filler).value(t) }

func (f *filler) value(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	for _, above := range f.path {
		if above == t && t.Kind() == reflect.Struct {
			return v
		}
	}
	f.path = append(f.path, t)
	f.fill(v)
	f.path = f.path[:len(f.path)-1]
	return v
}

func (f *filler) fill(v reflect.Value) {
	f.n++
	switch p := v.Addr().Interface().(type) {
	case *metav1.TypeMeta:
		return
	case *resource.Quantity:
		*p = resource.MustParse(fmt.Sprintf("%dMi", f.n))
		_ = p.String() // caches the text, because decoded values have cached it too
		return
	case *metav1.Time:
		*p = metav1.NewTime(time.Unix(int64(f.n), 0))
		return
	case *metav1.MicroTime:
		*p = metav1.NewMicroTime(time.Unix(int64(f.n), 5000))
		return
	case *metav1.Duration:
		*p = metav1.Duration{Duration: time.Duration(f.n) * time.Second}
		return
	case *intstr.IntOrString:
		if *p = intstr.FromInt32(int32(f.n)); f.n%2 == 0 {
			*p = intstr.FromString(fmt.Sprintf("%d%%", f.n))
		}
		return
	case *runtime.RawExtension:
		p.Raw = fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"raw-%d"}}`, f.n)
		return
	case *metav1.FieldsV1:
		p.SetRawBytes([]byte(`{"f:metadata":{"f:labels":{}}}`))
		return
	case *context.Context:
		*p = ctx
		return
	case *runtime.Object:
		*p = filledValue(reflect.TypeFor[*corev1.ConfigMap]()).Interface().(runtime.Object)
		return
	case *labels.Selector:
		*p = labels.Everything()
		return
	case *fields.Selector:
		*p = fields.Everything()
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		v.Elem().Set(f.value(v.Type().Elem()))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				v.Field(i).Set(f.value(v.Field(i).Type()))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.Set(reflect.ValueOf(fmt.Appendf(nil, "bytes-%d", f.n)).Convert(v.Type()))
			return
		}
		for range 2 {
			v.Set(reflect.Append(v, f.value(v.Type().Elem())))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			v.SetMapIndex(f.value(v.Type().Key()), f.value(v.Type().Elem()))
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text-%d", f.n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.n % 100))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.n % 100))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(f.n) + 0.5)
	}
}
