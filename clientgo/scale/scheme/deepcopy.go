package scheme

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopyInto copies *in to *out.
func (in *Scale) DeepCopyInto(out *Scale) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	in.Status.DeepCopyInto(&out.Status)
}

// DeepCopy returns a copy, or nil if in is nil.
func (in *Scale) DeepCopy() *Scale {
	if in == nil {
		return nil
	}
	out := new(Scale)
	in.DeepCopyInto(out)
	return out
}

// DeepCopyObject returns a copy, or nil if in is nil.
func (in *Scale) DeepCopyObject() runtime.Object {
	if in == nil {
		return nil
	}
	return in.DeepCopy()
}

// DeepCopyInto copies *in to *out.
func (in *ScaleSpec) DeepCopyInto(out *ScaleSpec) { *out = *in }

// DeepCopy returns a copy, or nil if in is nil.
func (in *ScaleSpec) DeepCopy() *ScaleSpec {
	if in == nil {
		return nil
	}
	out := *in
	return &out
}

// DeepCopyInto copies *in to *out.
func (in *ScaleStatus) DeepCopyInto(out *ScaleStatus) {
	*out = *in
	out.Selector = in.Selector.DeepCopy()
}

// DeepCopy returns a copy, or nil if in is nil.
func (in *ScaleStatus) DeepCopy() *ScaleStatus {
	if in == nil {
		return nil
	}
	out := new(ScaleStatus)
	in.DeepCopyInto(out)
	return out
}
