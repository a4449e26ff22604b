// Package clientauthentication has the input and output types of an exec plugin, in the internal
// version.
package clientauthentication

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the group of the types.
const GroupName = "client.authentication.k8s.io"

// SchemeGroupVersion is the group version of the types in a scheme.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: runtime.APIVersionInternal}

var (
	// SchemeBuilder adds ExecCredential to a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(func(scheme *runtime.Scheme) error {
		scheme.AddKnownTypes(SchemeGroupVersion, &ExecCredential{})
		return nil
	})

	// AddToScheme adds ExecCredential to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

// Kind returns a kind of the group.
func Kind(kind string) schema.GroupKind { return SchemeGroupVersion.WithKind(kind).GroupKind() }

// Resource returns a resource of the group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

// ExecCredential is the input and the output of a plugin. The environment variable
// KUBERNETES_EXEC_INFO holds the input, without a status. The plugin prints the output, with a
// status.
type ExecCredential struct {
	metav1.TypeMeta

	// Spec is the input of the plugin.
	Spec ExecCredentialSpec
	// Status is the output of the plugin.
	Status *ExecCredentialStatus
}

// ExecCredentialSpec is the input of a plugin.
type ExecCredentialSpec struct {
	// Interactive reports whether the plugin's standard input is a terminal.
	Interactive bool
	// Cluster is the server that the credential is for. It is set only if ProvideClusterInfo is set
	// in the kubeconfig.
	Cluster *Cluster
}

// ExecCredentialStatus is a credential: a token, or a certificate with its key, or both.
type ExecCredentialStatus struct {
	// ExpirationTimestamp is when the credential expires. Defaults to nil, which means that the
	// expiry is unknown.
	ExpirationTimestamp *metav1.Time
	// Token is a bearer token.
	Token string `datapolicy:"token"`
	// ClientCertificateData and ClientKeyData are in PEM.
	ClientCertificateData string
	ClientKeyData         string `datapolicy:"secret-key"`
}

// Cluster describes how to connect to a server. It has the fields of a cluster in a kubeconfig.
type Cluster struct {
	Server                string
	TLSServerName         string
	InsecureSkipTLSVerify bool
	// CertificateAuthorityData is in PEM.
	CertificateAuthorityData []byte
	ProxyURL                 string
	DisableCompression       bool
	// Config is the cluster's extension "client.authentication.k8s.io/exec".
	Config runtime.Object
}
