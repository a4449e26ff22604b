package sharing_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/rest/internal/everytype"
	"github.com/kinform/kinform/rest/sharing"
	"github.com/kinform/kinform/rest/sharing/mutation"
)

// immutablePodPaths returns the paths of the parts that pods share with the policy Immutable, by
// their names in JSON. "*" means each element of a list, or each member except the name.
func immutablePodPaths() (paths []string) {
	paths = []string{
		"metadata.managedFields.*.fieldsV1", "spec.volumes.*.*", "spec.affinity", "spec.securityContext", "spec.imagePullSecrets",
		"spec.hostAliases", "spec.dnsConfig", "spec.readinessGates", "spec.topologySpreadConstraints",
	}
	for _, of := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, field := range strings.Fields("command args ports envFrom env volumeMounts volumeDevices livenessProbe readinessProbe " +
			"startupProbe lifecycle securityContext") {
			paths = append(paths, "spec."+of+".*."+field)
		}
	}
	for _, of := range []string{"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"} {
		for _, field := range strings.Fields("resources allocatedResources allocatedResourcesStatus user") {
			paths = append(paths, "status."+of+".*."+field)
		}
	}
	return paths
}

// valuesAt removes a part from an object, and returns the values that the part had.
func valuesAt(t *testing.T, v reflect.Value, path []string) (taken []any) {
	t.Helper()
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer && len(path) > 0 {
		v = v.Elem()
	}
	if len(path) == 0 {
		taken = append(taken, v.Interface())
		v.SetZero()
		return taken
	}
	name, rest := path[0], path[1:]
	switch v.Kind() {
	case reflect.Slice:
		require.Equal(t, "*", name)
		for i := range v.Len() {
			taken = append(taken, valuesAt(t, v.Index(i), rest)...)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			switch {
			case key.String() != name && (name != "*" || key.String() == "name"):
			case len(rest) == 0:
				taken = append(taken, v.MapIndex(key).Interface())
				v.SetMapIndex(key, reflect.Value{})
			default:
				taken = append(taken, valuesAt(t, v.MapIndex(key), rest)...)
			}
		}
	case reflect.Struct:
		found := false
		for i := range v.NumField() {
			tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			switch {
			case tag == name:
				found = true
				taken = append(taken, valuesAt(t, v.Field(i), rest)...)
			case tag == "" && v.Type().Field(i).Anonymous:
				if name == "*" || hasMember(v.Field(i).Type(), name) {
					found = true
					taken = append(taken, valuesAt(t, v.Field(i), path)...)
				}
			case name == "*" && tag != "name":
				found = true
				taken = append(taken, valuesAt(t, v.Field(i), rest)...)
			}
		}
		require.True(t, found, "%s has no %s", v.Type(), name)
	}
	return taken
}

func hasMember(t reflect.Type, name string) bool {
	for i := range t.NumField() {
		if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); tag == name {
			return true
		}
	}
	return false
}

// TestPodsShareOnlyImmutableParts: without the parts of immutablePodPaths, typed pods share no
// memory.
func TestPodsShareOnlyImmutableParts(t *testing.T) {
	t.Parallel()
	var filled corev1.Pod
	everytype.Filler(1).Fill(&filled)
	inJSON, err := json.Marshal(&filled)
	require.NoError(t, err)
	inProtobuf, err := filled.Marshal()
	require.NoError(t, err)
	d := sharing.New(sharing.Options{Share: sharing.Immutable})
	for name, decode := range map[string]func(*corev1.Pod) error{
		"JSON":     func(pod *corev1.Pod) error { return d.DecodeJSON(inJSON, pod) },
		"protobuf": func(pod *corev1.Pod) error { return d.DecodeProtobuf(inProtobuf, pod, nil) },
	} {
		var pods [6]*corev1.Pod
		for i := range pods {
			pods[i] = &corev1.Pod{}
			require.NoError(t, decode(pods[i]))
		}
		require.Error(t, mutation.CheckUnshared(pods[4], pods[5]), name)
		for _, path := range immutablePodPaths() {
			for _, pod := range pods {
				valuesAt(t, reflect.ValueOf(pod), strings.Split(path, "."))
			}
		}
		requireApart(t, pods[:])
	}
}

// TestUnstructuredPodsShareTheSameParts: an object counts as a pod if apiVersion and kind are its
// first members, or if its list implies both.
func TestUnstructuredPodsShareTheSameParts(t *testing.T) {
	t.Parallel()
	part := map[string]any{"fixed": map[string]any{"a": []any{"b"}}}
	parts := func(of string) (names map[string]any) {
		names = map[string]any{"name": "n", "other": part}
		for _, path := range immutablePodPaths() {
			if field, ok := strings.CutPrefix(path, of); ok && !strings.Contains(field, ".") && field != "*" {
				names[field] = part
			}
		}
		return names
	}
	spec, status := parts("spec."), map[string]any{"containerStatuses": []any{parts("status.containerStatuses.*.")}, "other": part}
	for _, of := range []string{"containers", "initContainers", "ephemeralContainers"} {
		spec[of] = []any{parts("spec." + of + ".*.")}
		status[strings.TrimSuffix(of, "s")+"Statuses"] = []any{parts("status." + strings.TrimSuffix(of, "s") + "Statuses.*.")}
	}
	spec["volumes"] = []any{map[string]any{"name": "v", "configMap": part}}
	spec["template"] = map[string]any{"spec": map[string]any{"affinity": part}}
	object := func(first map[string]any) []byte {
		first["metadata"] = map[string]any{"name": "x", "affinity": part, "managedFields": []any{map[string]any{"fieldsV1": part, "other": part}}}
		first["spec"], first["status"], first["affinity"] = spec, status, part
		data, err := json.Marshal(first) // encodes the members in the order of their names
		require.NoError(t, err)
		return data
	}
	pod := object(map[string]any{"apiVersion": "v1", "kind": "Pod"})
	bare := object(map[string]any{})
	late := append(append([]byte{}, bare[:len(bare)-1]...), `,"apiVersion":"v1","kind":"Pod"}`...)
	for name, of := range map[string]struct {
		data    []byte
		implied map[string]any
		pods    bool
	}{
		"of a watch":       {data: pod, pods: true},
		"of a list":        {data: bare, implied: map[string]any{"apiVersion": "v1", "kind": "Pod"}, pods: true},
		"of another group": {data: object(map[string]any{"apiVersion": "example.com/v1", "kind": "Pod"})},
		"of another kind":  {data: object(map[string]any{"apiVersion": "v1", "kind": "Node"}), implied: map[string]any{"apiVersion": "v1", "kind": "Pod"}},
		"of no kind":       {data: bare},
		"known too late":   {data: late},
	} {
		var changed []string
		d := sharing.New(sharing.Options{Share: sharing.Immutable, MutationDetector: sharing.NewMutationDetector(func(c sharing.Mutation) { changed = append(changed, c.Field) })})
		var objects []map[string]any
		for range 6 {
			got := map[string]any{}
			for name, value := range of.implied {
				got[name] = value
			}
			require.NoError(t, d.DecodeJSON(of.data, &got), name)
			want := map[string]any{}
			for name, value := range of.implied {
				want[name] = value
			}
			require.NoError(t, json.Unmarshal(of.data, &want))
			require.Equal(t, want, got, name)
			objects = append(objects, got)
		}
		var ofProbe map[string]any
		for _, path := range immutablePodPaths() {
			if !of.pods && !strings.HasPrefix(path, "metadata.") {
				continue
			}
			var last []any
			for i, object := range objects {
				taken := valuesAt(t, reflect.ValueOf(object), strings.Split(path, "."))
				require.NotEmpty(t, taken, "%s: %s", name, path)
				if i == 5 {
					require.Error(t, mutation.CheckUnshared(last[0], taken[0]), "%s: objects must share %s", name, path)
					if strings.HasSuffix(path, "livenessProbe") {
						ofProbe = taken[0].(map[string]any)
					}
				}
				last = taken
			}
		}
		require.NoError(t, mutation.CheckUnshared(objects[0], objects[1], objects[2], objects[3], objects[4], objects[5]), name)
		if of.pods {
			d.Check(1 << 20)
			require.Empty(t, changed)
			ofProbe["fixed"] = "changed"
			d.Check(1 << 20)
			require.NotEmpty(t, changed, "Check must find the change")
		}
	}
}
