package v1

//lint:file-ignore ST1003 the names are client-go's
//lint:file-ignore SA1019 preferences are kept, though nothing reads them

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd/api"
)

// After a conversion, source and target share pointers. So a change of one of them may change the
// other.

// Convert_v1_Config_To_api_Config converts the lists to maps. Two entries with the same name are an
// error.
func Convert_v1_Config_To_api_Config(in *Config, out *api.Config, s conversion.Scope) error {
	if err := Convert_v1_Preferences_To_api_Preferences(&in.Preferences, &out.Preferences, s); err != nil {
		return err
	}
	if err := Convert_Slice_v1_NamedCluster_To_Map_string_To_Pointer_api_Cluster(&in.Clusters, &out.Clusters, s); err != nil {
		return err
	}
	if err := Convert_Slice_v1_NamedAuthInfo_To_Map_string_To_Pointer_api_AuthInfo(&in.AuthInfos, &out.AuthInfos, s); err != nil {
		return err
	}
	if err := Convert_Slice_v1_NamedContext_To_Map_string_To_Pointer_api_Context(&in.Contexts, &out.Contexts, s); err != nil {
		return err
	}
	out.CurrentContext = in.CurrentContext
	return extensionsToMap(in.Extensions, &out.Extensions)
}

// Convert_api_Config_To_v1_Config converts the maps to lists, sorted by name.
func Convert_api_Config_To_v1_Config(in *api.Config, out *Config, s conversion.Scope) error {
	if err := Convert_api_Preferences_To_v1_Preferences(&in.Preferences, &out.Preferences, s); err != nil {
		return err
	}
	if err := Convert_Map_string_To_Pointer_api_Cluster_To_Slice_v1_NamedCluster(&in.Clusters, &out.Clusters, s); err != nil {
		return err
	}
	if err := Convert_Map_string_To_Pointer_api_AuthInfo_To_Slice_v1_NamedAuthInfo(&in.AuthInfos, &out.AuthInfos, s); err != nil {
		return err
	}
	if err := Convert_Map_string_To_Pointer_api_Context_To_Slice_v1_NamedContext(&in.Contexts, &out.Contexts, s); err != nil {
		return err
	}
	out.CurrentContext = in.CurrentContext
	return extensionsToSlice(in.Extensions, &out.Extensions)
}

// Convert_v1_Preferences_To_api_Preferences converts preferences.
func Convert_v1_Preferences_To_api_Preferences(in *Preferences, out *api.Preferences, _ conversion.Scope) error {
	out.Colors = in.Colors
	return extensionsToMap(in.Extensions, &out.Extensions)
}

// Convert_api_Preferences_To_v1_Preferences converts preferences.
func Convert_api_Preferences_To_v1_Preferences(in *api.Preferences, out *Preferences, _ conversion.Scope) error {
	out.Colors = in.Colors
	return extensionsToSlice(in.Extensions, &out.Extensions)
}

// Convert_v1_Cluster_To_api_Cluster converts a cluster.
func Convert_v1_Cluster_To_api_Cluster(in *Cluster, out *api.Cluster, _ conversion.Scope) error {
	out.Server, out.TLSServerName, out.ProxyURL = in.Server, in.TLSServerName, in.ProxyURL
	out.InsecureSkipTLSVerify, out.DisableCompression = in.InsecureSkipTLSVerify, in.DisableCompression
	out.CertificateAuthority, out.CertificateAuthorityData = in.CertificateAuthority, in.CertificateAuthorityData
	return extensionsToMap(in.Extensions, &out.Extensions)
}

// Convert_api_Cluster_To_v1_Cluster converts a cluster.
func Convert_api_Cluster_To_v1_Cluster(in *api.Cluster, out *Cluster, _ conversion.Scope) error {
	out.Server, out.TLSServerName, out.ProxyURL = in.Server, in.TLSServerName, in.ProxyURL
	out.InsecureSkipTLSVerify, out.DisableCompression = in.InsecureSkipTLSVerify, in.DisableCompression
	out.CertificateAuthority, out.CertificateAuthorityData = in.CertificateAuthority, in.CertificateAuthorityData
	return extensionsToSlice(in.Extensions, &out.Extensions)
}

// Convert_v1_Context_To_api_Context converts a context.
func Convert_v1_Context_To_api_Context(in *Context, out *api.Context, _ conversion.Scope) error {
	out.Cluster, out.AuthInfo, out.Namespace = in.Cluster, in.AuthInfo, in.Namespace
	return extensionsToMap(in.Extensions, &out.Extensions)
}

// Convert_api_Context_To_v1_Context converts a context.
func Convert_api_Context_To_v1_Context(in *api.Context, out *Context, _ conversion.Scope) error {
	out.Cluster, out.AuthInfo, out.Namespace = in.Cluster, in.AuthInfo, in.Namespace
	return extensionsToSlice(in.Extensions, &out.Extensions)
}

// Convert_Slice_v1_NamedCluster_To_Map_string_To_Pointer_api_Cluster converts a list to a map.
func Convert_Slice_v1_NamedCluster_To_Map_string_To_Pointer_api_Cluster(in *[]NamedCluster, out *map[string]*api.Cluster, s conversion.Scope) error {
	return toMap(*in, out, s, func(n *NamedCluster) (string, *Cluster) { return n.Name, &n.Cluster }, api.NewCluster, Convert_v1_Cluster_To_api_Cluster)
}

// Convert_Map_string_To_Pointer_api_Cluster_To_Slice_v1_NamedCluster converts a map to a list,
// sorted by name.
func Convert_Map_string_To_Pointer_api_Cluster_To_Slice_v1_NamedCluster(in *map[string]*api.Cluster, out *[]NamedCluster, s conversion.Scope) error {
	return toSlice(*in, out, s, func(n *NamedCluster, name string) *Cluster { n.Name = name; return &n.Cluster }, Convert_api_Cluster_To_v1_Cluster)
}

// Convert_Slice_v1_NamedContext_To_Map_string_To_Pointer_api_Context converts a list to a map.
func Convert_Slice_v1_NamedContext_To_Map_string_To_Pointer_api_Context(in *[]NamedContext, out *map[string]*api.Context, s conversion.Scope) error {
	return toMap(*in, out, s, func(n *NamedContext) (string, *Context) { return n.Name, &n.Context }, api.NewContext, Convert_v1_Context_To_api_Context)
}

// Convert_Map_string_To_Pointer_api_Context_To_Slice_v1_NamedContext converts a map to a list,
// sorted by name.
func Convert_Map_string_To_Pointer_api_Context_To_Slice_v1_NamedContext(in *map[string]*api.Context, out *[]NamedContext, s conversion.Scope) error {
	return toSlice(*in, out, s, func(n *NamedContext, name string) *Context { n.Name = name; return &n.Context }, Convert_api_Context_To_v1_Context)
}

// Convert_Slice_v1_NamedAuthInfo_To_Map_string_To_Pointer_api_AuthInfo converts a list to a map.
func Convert_Slice_v1_NamedAuthInfo_To_Map_string_To_Pointer_api_AuthInfo(in *[]NamedAuthInfo, out *map[string]*api.AuthInfo, s conversion.Scope) error {
	return toMap(*in, out, s, func(n *NamedAuthInfo) (string, *AuthInfo) { return n.Name, &n.AuthInfo }, api.NewAuthInfo, Convert_v1_AuthInfo_To_api_AuthInfo)
}

// Convert_Map_string_To_Pointer_api_AuthInfo_To_Slice_v1_NamedAuthInfo converts a map to a list,
// sorted by name.
func Convert_Map_string_To_Pointer_api_AuthInfo_To_Slice_v1_NamedAuthInfo(in *map[string]*api.AuthInfo, out *[]NamedAuthInfo, s conversion.Scope) error {
	return toSlice(*in, out, s, func(n *NamedAuthInfo, name string) *AuthInfo { n.Name = name; return &n.AuthInfo }, Convert_api_AuthInfo_To_v1_AuthInfo)
}

// Convert_Slice_v1_NamedExtension_To_Map_string_To_runtime_Object converts a list to a map.
func Convert_Slice_v1_NamedExtension_To_Map_string_To_runtime_Object(in *[]NamedExtension, out *map[string]runtime.Object, _ conversion.Scope) error {
	return extensionsToMap(*in, out)
}

// Convert_Map_string_To_runtime_Object_To_Slice_v1_NamedExtension converts a map to a list, sorted
// by name.
func Convert_Map_string_To_runtime_Object_To_Slice_v1_NamedExtension(in *map[string]runtime.Object, out *[]NamedExtension, _ conversion.Scope) error {
	return extensionsToSlice(*in, out)
}

// toMap adds the entries of a list to a map. It makes the map if necessary.
func toMap[N, A, B any](in []N, out *map[string]*B, s conversion.Scope, split func(*N) (string, *A), fresh func() *B, convert func(*A, *B, conversion.Scope) error) error {
	if *out == nil && len(in) > 0 {
		*out = make(map[string]*B, len(in))
	}
	for i := range in {
		name, content := split(&in[i])
		if _, ok := (*out)[name]; ok {
			return duplicate(in, *out, name)
		}
		converted := fresh()
		if err := convert(content, converted, s); err != nil {
			return err
		}
		(*out)[name] = converted
	}
	return nil
}

// duplicate returns the error for a name that occurs twice. Its text omits the list, which may
// contain secrets.
func duplicate(list, into any, name string) error {
	// client-go's text omits the package of the list's type
	of := strings.Replace(fmt.Sprintf("%T", list), "v1.", "", 1)
	return fmt.Errorf("error converting *%s into *%T: duplicate name %q in list", of, into, name)
}

// toSlice appends the entries of a map to a list.
func toSlice[N, A, B any](in map[string]*B, out *[]N, s conversion.Scope, join func(*N, string) *A, convert func(*B, *A, conversion.Scope) error) error {
	for _, name := range slices.Sorted(maps.Keys(in)) {
		var entry N
		if err := convert(in[name], join(&entry, name), s); err != nil {
			return err
		}
		*out = append(*out, entry)
	}
	return nil
}

func extensionsToMap(in []NamedExtension, out *map[string]runtime.Object) error {
	if *out == nil && len(in) > 0 {
		*out = make(map[string]runtime.Object, len(in))
	}
	for i := range in {
		if _, ok := (*out)[in[i].Name]; ok {
			return duplicate(in, *out, in[i].Name)
		}
		var object runtime.Object
		if err := runtime.Convert_runtime_RawExtension_To_runtime_Object(&in[i].Extension, &object, nil); err != nil {
			return err
		}
		(*out)[in[i].Name] = object
	}
	return nil
}

func extensionsToSlice(in map[string]runtime.Object, out *[]NamedExtension) error {
	for _, name := range slices.Sorted(maps.Keys(in)) {
		object := in[name]
		entry := NamedExtension{Name: name}
		if err := runtime.Convert_runtime_Object_To_runtime_RawExtension(&object, &entry.Extension, nil); err != nil {
			return err
		}
		*out = append(*out, entry)
	}
	return nil
}
