package v1

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
	out.Clusters = copySlice(in.Clusters, (*NamedCluster).DeepCopyInto)
	out.AuthInfos = copySlice(in.AuthInfos, (*NamedAuthInfo).DeepCopyInto)
	out.Contexts = copySlice(in.Contexts, (*NamedContext).DeepCopyInto)
	out.Extensions = copySlice(in.Extensions, (*NamedExtension).DeepCopyInto)
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
	out.Extensions = copySlice(in.Extensions, (*NamedExtension).DeepCopyInto)
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *Cluster) DeepCopy() *Cluster { return deepCopy(in, (*Cluster).DeepCopyInto) }

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *Cluster) DeepCopyInto(out *Cluster) {
	*out = *in
	out.CertificateAuthorityData = slices.Clone(in.CertificateAuthorityData)
	out.Extensions = copySlice(in.Extensions, (*NamedExtension).DeepCopyInto)
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *Context) DeepCopy() *Context { return deepCopy(in, (*Context).DeepCopyInto) }

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *Context) DeepCopyInto(out *Context) {
	*out = *in
	out.Extensions = copySlice(in.Extensions, (*NamedExtension).DeepCopyInto)
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *AuthInfo) DeepCopy() *AuthInfo { return deepCopy(in, (*AuthInfo).DeepCopyInto) }

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *AuthInfo) DeepCopyInto(out *AuthInfo) {
	*out = *in
	out.ClientCertificateData = slices.Clone(in.ClientCertificateData)
	out.ClientKeyData = slices.Clone(in.ClientKeyData)
	out.ImpersonateGroups = slices.Clone(in.ImpersonateGroups)
	out.ImpersonateUserExtra = maps.Clone(in.ImpersonateUserExtra)
	for key, values := range in.ImpersonateUserExtra {
		out.ImpersonateUserExtra[key] = slices.Clone(values)
	}
	out.AuthProvider = in.AuthProvider.DeepCopy()
	out.Exec = in.Exec.DeepCopy()
	out.Extensions = copySlice(in.Extensions, (*NamedExtension).DeepCopyInto)
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *AuthProviderConfig) DeepCopy() *AuthProviderConfig {
	return deepCopy(in, (*AuthProviderConfig).DeepCopyInto)
}

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *AuthProviderConfig) DeepCopyInto(out *AuthProviderConfig) {
	*out = AuthProviderConfig{Name: in.Name, Config: maps.Clone(in.Config)}
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *ExecConfig) DeepCopy() *ExecConfig { return deepCopy(in, (*ExecConfig).DeepCopyInto) }

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *ExecConfig) DeepCopyInto(out *ExecConfig) {
	*out = *in
	out.Args, out.Env = slices.Clone(in.Args), slices.Clone(in.Env)
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *ExecEnvVar) DeepCopy() *ExecEnvVar { return deepCopy(in, (*ExecEnvVar).DeepCopyInto) }

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *ExecEnvVar) DeepCopyInto(out *ExecEnvVar) { *out = *in }

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *NamedCluster) DeepCopy() *NamedCluster { return deepCopy(in, (*NamedCluster).DeepCopyInto) }

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *NamedCluster) DeepCopyInto(out *NamedCluster) {
	out.Name = in.Name
	in.Cluster.DeepCopyInto(&out.Cluster)
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *NamedContext) DeepCopy() *NamedContext { return deepCopy(in, (*NamedContext).DeepCopyInto) }

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *NamedContext) DeepCopyInto(out *NamedContext) {
	out.Name = in.Name
	in.Context.DeepCopyInto(&out.Context)
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *NamedAuthInfo) DeepCopy() *NamedAuthInfo {
	return deepCopy(in, (*NamedAuthInfo).DeepCopyInto)
}

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *NamedAuthInfo) DeepCopyInto(out *NamedAuthInfo) {
	out.Name = in.Name
	in.AuthInfo.DeepCopyInto(&out.AuthInfo)
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *NamedExtension) DeepCopy() *NamedExtension {
	return deepCopy(in, (*NamedExtension).DeepCopyInto)
}

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *NamedExtension) DeepCopyInto(out *NamedExtension) {
	out.Name = in.Name
	in.Extension.DeepCopyInto(&out.Extension)
}

func deepCopy[T any](in *T, into func(in, out *T)) *T {
	if in == nil {
		return nil
	}
	out := new(T)
	into(in, out)
	return out
}

func copySlice[T any](in []T, into func(in, out *T)) []T {
	if in == nil {
		return nil
	}
	out := make([]T, len(in))
	for i := range in {
		into(&in[i], &out[i])
	}
	return out
}
