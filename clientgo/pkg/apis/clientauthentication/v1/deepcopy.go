package v1

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *ExecCredential) DeepCopy() *ExecCredential {
	if in == nil {
		return nil
	}
	out := new(ExecCredential)
	in.DeepCopyInto(out)
	return out
}

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *ExecCredential) DeepCopyInto(out *ExecCredential) {
	out.TypeMeta = in.TypeMeta
	in.Spec.DeepCopyInto(&out.Spec)
	out.Status = in.Status.DeepCopy()
}

// DeepCopyObject implements runtime.Object.
func (in *ExecCredential) DeepCopyObject() runtime.Object {
	if in == nil {
		return nil
	}
	return in.DeepCopy()
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *ExecCredentialSpec) DeepCopy() *ExecCredentialSpec {
	if in == nil {
		return nil
	}
	out := new(ExecCredentialSpec)
	in.DeepCopyInto(out)
	return out
}

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *ExecCredentialSpec) DeepCopyInto(out *ExecCredentialSpec) {
	out.Interactive, out.Cluster = in.Interactive, in.Cluster.DeepCopy()
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *ExecCredentialStatus) DeepCopy() *ExecCredentialStatus {
	if in == nil {
		return nil
	}
	out := new(ExecCredentialStatus)
	in.DeepCopyInto(out)
	return out
}

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *ExecCredentialStatus) DeepCopyInto(out *ExecCredentialStatus) {
	*out = *in
	out.ExpirationTimestamp = in.ExpirationTimestamp.DeepCopy()
}

// DeepCopy returns a copy that shares nothing with the receiver.
func (in *Cluster) DeepCopy() *Cluster {
	if in == nil {
		return nil
	}
	out := new(Cluster)
	in.DeepCopyInto(out)
	return out
}

// DeepCopyInto copies the receiver to out. Neither may be nil.
func (in *Cluster) DeepCopyInto(out *Cluster) {
	*out = *in
	out.CertificateAuthorityData = slices.Clone(in.CertificateAuthorityData)
	in.Config.DeepCopyInto(&out.Config)
}
