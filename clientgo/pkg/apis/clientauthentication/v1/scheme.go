package v1

//lint:file-ignore ST1003 the names are client-go's

import (
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/pkg/apis/clientauthentication"
)

// GroupName is the group of the types.
const GroupName = clientauthentication.GroupName

// SchemeGroupVersion is the group version of the types in a scheme.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1"}

var (
	// SchemeBuilder adds ExecCredential and its conversions to a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes, RegisterDefaults, RegisterConversions)

	// AddToScheme adds ExecCredential and its conversions to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &ExecCredential{})
	return nil
}

// Resource returns a resource of the group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

// RegisterDefaults does nothing, because an ExecCredential has no defaults.
func RegisterDefaults(*runtime.Scheme) error { return nil }

// RegisterConversions adds the conversions between the types of this package and of package
// clientauthentication to a scheme.
func RegisterConversions(s *runtime.Scheme) error {
	for _, err := range []error{
		register(s, Convert_v1_ExecCredential_To_clientauthentication_ExecCredential),
		register(s, Convert_clientauthentication_ExecCredential_To_v1_ExecCredential),
		register(s, Convert_v1_ExecCredentialSpec_To_clientauthentication_ExecCredentialSpec),
		register(s, Convert_clientauthentication_ExecCredentialSpec_To_v1_ExecCredentialSpec),
		register(s, Convert_v1_ExecCredentialStatus_To_clientauthentication_ExecCredentialStatus),
		register(s, Convert_clientauthentication_ExecCredentialStatus_To_v1_ExecCredentialStatus),
		register(s, Convert_v1_Cluster_To_clientauthentication_Cluster),
		register(s, Convert_clientauthentication_Cluster_To_v1_Cluster),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func register[A, B any](s *runtime.Scheme, convert func(*A, *B, conversion.Scope) error) error {
	return s.AddConversionFunc((*A)(nil), (*B)(nil), func(a, b any, scope conversion.Scope) error {
		return convert(a.(*A), b.(*B), scope)
	})
}

// Convert_v1_ExecCredential_To_clientauthentication_ExecCredential converts a credential.
func Convert_v1_ExecCredential_To_clientauthentication_ExecCredential(in *ExecCredential, out *clientauthentication.ExecCredential, s conversion.Scope) error {
	out.Status = nil
	if in.Status != nil {
		out.Status = (*clientauthentication.ExecCredentialStatus)(in.Status)
	}
	return Convert_v1_ExecCredentialSpec_To_clientauthentication_ExecCredentialSpec(&in.Spec, &out.Spec, s)
}

// Convert_clientauthentication_ExecCredential_To_v1_ExecCredential converts a credential.
func Convert_clientauthentication_ExecCredential_To_v1_ExecCredential(in *clientauthentication.ExecCredential, out *ExecCredential, s conversion.Scope) error {
	out.Status = nil
	if in.Status != nil {
		out.Status = (*ExecCredentialStatus)(in.Status)
	}
	return Convert_clientauthentication_ExecCredentialSpec_To_v1_ExecCredentialSpec(&in.Spec, &out.Spec, s)
}

// Convert_v1_ExecCredentialSpec_To_clientauthentication_ExecCredentialSpec converts the input of a
// plugin.
func Convert_v1_ExecCredentialSpec_To_clientauthentication_ExecCredentialSpec(in *ExecCredentialSpec, out *clientauthentication.ExecCredentialSpec, s conversion.Scope) error {
	out.Interactive, out.Cluster = in.Interactive, nil
	if in.Cluster == nil {
		return nil
	}
	out.Cluster = &clientauthentication.Cluster{}
	return Convert_v1_Cluster_To_clientauthentication_Cluster(in.Cluster, out.Cluster, s)
}

// Convert_clientauthentication_ExecCredentialSpec_To_v1_ExecCredentialSpec converts the input of a
// plugin.
func Convert_clientauthentication_ExecCredentialSpec_To_v1_ExecCredentialSpec(in *clientauthentication.ExecCredentialSpec, out *ExecCredentialSpec, s conversion.Scope) error {
	out.Interactive, out.Cluster = in.Interactive, nil
	if in.Cluster == nil {
		return nil
	}
	out.Cluster = &Cluster{}
	return Convert_clientauthentication_Cluster_To_v1_Cluster(in.Cluster, out.Cluster, s)
}

// Convert_v1_ExecCredentialStatus_To_clientauthentication_ExecCredentialStatus converts the output
// of a plugin.
func Convert_v1_ExecCredentialStatus_To_clientauthentication_ExecCredentialStatus(in *ExecCredentialStatus, out *clientauthentication.ExecCredentialStatus, _ conversion.Scope) error {
	*out = clientauthentication.ExecCredentialStatus(*in)
	return nil
}

// Convert_clientauthentication_ExecCredentialStatus_To_v1_ExecCredentialStatus converts the output
// of a plugin.
func Convert_clientauthentication_ExecCredentialStatus_To_v1_ExecCredentialStatus(in *clientauthentication.ExecCredentialStatus, out *ExecCredentialStatus, _ conversion.Scope) error {
	*out = ExecCredentialStatus(*in)
	return nil
}

// Convert_v1_Cluster_To_clientauthentication_Cluster converts a cluster.
func Convert_v1_Cluster_To_clientauthentication_Cluster(in *Cluster, out *clientauthentication.Cluster, s conversion.Scope) error {
	out.Server, out.TLSServerName, out.ProxyURL = in.Server, in.TLSServerName, in.ProxyURL
	out.InsecureSkipTLSVerify, out.DisableCompression = in.InsecureSkipTLSVerify, in.DisableCompression
	out.CertificateAuthorityData = in.CertificateAuthorityData
	return runtime.Convert_runtime_RawExtension_To_runtime_Object(&in.Config, &out.Config, s)
}

// Convert_clientauthentication_Cluster_To_v1_Cluster converts a cluster.
func Convert_clientauthentication_Cluster_To_v1_Cluster(in *clientauthentication.Cluster, out *Cluster, s conversion.Scope) error {
	out.Server, out.TLSServerName, out.ProxyURL = in.Server, in.TLSServerName, in.ProxyURL
	out.InsecureSkipTLSVerify, out.DisableCompression = in.InsecureSkipTLSVerify, in.DisableCompression
	out.CertificateAuthorityData = in.CertificateAuthorityData
	return runtime.Convert_runtime_Object_To_runtime_RawExtension(&in.Config, &out.Config, s)
}
