package clientcmd

//lint:file-ignore SA1019 preferences are kept, though nothing reads them

import (
	"reflect"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// mergeConfig completes a config: it copies the entries and fields that the target lacks from
// another config. Two entries with the same name are not merged: the entry of the target stays.
func mergeConfig(into, from *clientcmdapi.Config) {
	addMissing(into.Clusters, from.Clusters)
	addMissing(into.AuthInfos, from.AuthInfos)
	addMissing(into.Contexts, from.Contexts)
	addMissing(into.Extensions, from.Extensions)
	addMissing(into.Preferences.Extensions, from.Preferences.Extensions)
	into.Preferences.Colors = into.Preferences.Colors || from.Preferences.Colors
	for _, field := range []struct{ into, from *string }{
		{&into.CurrentContext, &from.CurrentContext}, {&into.Kind, &from.Kind}, {&into.APIVersion, &from.APIVersion},
	} {
		if *field.into == "" {
			*field.into = *field.from
		}
	}
}

func addMissing[V any](into, from map[string]V) {
	for name, v := range from {
		if _, ok := into[name]; !ok {
			into[name] = v
		}
	}
}

// override copies a value over another value of the same type, without the fields that are not set.
// It merges maps entry by entry, and structs field by field.
func override[T any](into *T, from T) {
	overrideValue(reflect.ValueOf(into).Elem(), reflect.ValueOf(from))
}

func overrideValue(into, from reflect.Value) {
	switch {
	case from.Kind() == reflect.Struct:
		for i := range from.NumField() {
			overrideValue(into.Field(i), from.Field(i))
		}
	case from.IsZero() || from.Kind() == reflect.Slice && from.Len() == 0:
	case from.Kind() == reflect.Map:
		// Other configs may share the target's map, so make a new map.
		merged := reflect.MakeMapWithSize(from.Type(), into.Len()+from.Len())
		for _, m := range []reflect.Value{into, from} {
			for entries := m.MapRange(); entries.Next(); {
				merged.SetMapIndex(entries.Key(), entries.Value())
			}
		}
		into.Set(merged)
	default:
		into.Set(from)
	}
}
