package api

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *Config) DeepCopy() *Config { return deepCopy(in, (*Config).DeepCopyInto) }

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *Config) DeepCopyInto(out *Config) {
	*out = *in
	in.Preferences.DeepCopyInto(&out.Preferences)
	out.Clusters = copyMap(in.Clusters, (*Cluster).DeepCopy)
	out.AuthInfos = copyMap(in.AuthInfos, (*AuthInfo).DeepCopy)
	out.Contexts = copyMap(in.Contexts, (*Context).DeepCopy)
	out.Extensions = copyMap(in.Extensions, copyObject)
}

// DeepCopyObject implements runtime.Object.
func (in *Config) DeepCopyObject() runtime.Object {
	if in == nil {
		return nil
	}
	return in.DeepCopy()
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *Preferences) DeepCopy() *Preferences { return deepCopy(in, (*Preferences).DeepCopyInto) }

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *Preferences) DeepCopyInto(out *Preferences) {
	*out = *in
	out.Extensions = copyMap(in.Extensions, copyObject)
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *Cluster) DeepCopy() *Cluster { return deepCopy(in, (*Cluster).DeepCopyInto) }

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *Cluster) DeepCopyInto(out *Cluster) {
	*out = *in
	out.CertificateAuthorityData = slices.Clone(in.CertificateAuthorityData)
	out.Extensions = copyMap(in.Extensions, copyObject)
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *Context) DeepCopy() *Context { return deepCopy(in, (*Context).DeepCopyInto) }

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *Context) DeepCopyInto(out *Context) {
	*out = *in
	out.Extensions = copyMap(in.Extensions, copyObject)
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *AuthInfo) DeepCopy() *AuthInfo { return deepCopy(in, (*AuthInfo).DeepCopyInto) }

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *AuthInfo) DeepCopyInto(out *AuthInfo) {
	*out = *in
	out.ClientCertificateData = slices.Clone(in.ClientCertificateData)
	out.ClientKeyData = slices.Clone(in.ClientKeyData)
	out.ImpersonateGroups = slices.Clone(in.ImpersonateGroups)
	out.ImpersonateUserExtra = copyMap(in.ImpersonateUserExtra, slices.Clone[[]string])
	out.AuthProvider = in.AuthProvider.DeepCopy()
	out.Exec = in.Exec.DeepCopy()
	out.Extensions = copyMap(in.Extensions, copyObject)
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *AuthProviderConfig) DeepCopy() *AuthProviderConfig {
	return deepCopy(in, (*AuthProviderConfig).DeepCopyInto)
}

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *AuthProviderConfig) DeepCopyInto(out *AuthProviderConfig) {
	*out = *in
	out.Config = maps.Clone(in.Config)
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *ExecConfig) DeepCopy() *ExecConfig { return deepCopy(in, (*ExecConfig).DeepCopyInto) }

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *ExecConfig) DeepCopyInto(out *ExecConfig) {
	*out = *in
	out.Args = slices.Clone(in.Args)
	out.Env = slices.Clone(in.Env)
	if in.Config != nil {
		out.Config = in.Config.DeepCopyObject()
	}
	in.PluginPolicy.DeepCopyInto(&out.PluginPolicy)
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *ExecEnvVar) DeepCopy() *ExecEnvVar { return deepCopy(in, (*ExecEnvVar).DeepCopyInto) }

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *ExecEnvVar) DeepCopyInto(out *ExecEnvVar) { *out = *in }

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *PluginPolicy) DeepCopy() *PluginPolicy {
	return deepCopy(in, (*PluginPolicy).DeepCopyInto)
}

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *PluginPolicy) DeepCopyInto(out *PluginPolicy) {
	*out = *in
	out.Allowlist = slices.Clone(in.Allowlist)
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *AllowlistEntry) DeepCopy() *AllowlistEntry {
	return deepCopy(in, (*AllowlistEntry).DeepCopyInto)
}

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *AllowlistEntry) DeepCopyInto(out *AllowlistEntry) { *out = *in }

// deepCopy returns a copy of *in, or nil for nil.
func deepCopy[T any](in *T, into func(in, out *T)) *T {
	if in == nil {
		return nil
	}
	out := new(T)
	into(in, out)
	return out
}

// copyMap returns a map with copies of the entries, or nil for nil.
func copyMap[V any](in map[string]V, value func(V) V) map[string]V {
	if in == nil {
		return nil
	}
	out := make(map[string]V, len(in))
	for key, v := range in {
		out[key] = value(v)
	}
	return out
}

func copyObject(in runtime.Object) runtime.Object {
	if in == nil {
		return nil
	}
	return in.DeepCopyObject()
}
