// Package clientauthentication has what an exec plugin is told, and what it answers, as programs see it.
package clientauthentication

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the group of the types.
const GroupName = "client.authentication.k8s.io"

// SchemeGroupVersion is that of the types in a scheme.
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

// ExecCredential is what a plugin reads in the variable KUBERNETES_EXEC_INFO, without a status, and what it prints.
type ExecCredential struct {
	metav1.TypeMeta

	// Spec is what the plugin is told.
	Spec ExecCredentialSpec
	// Status is what the plugin answers.
	Status *ExecCredentialStatus
}

// ExecCredentialSpec is what a plugin is told.
type ExecCredentialSpec struct {
	// Interactive says whether the plugin has a terminal as its standard input.
	Interactive bool
	// Cluster is the server that the credential is for, if the kubeconfig says that the plugin gets it.
	Cluster *Cluster
}

// ExecCredentialStatus is a credential: a token, or a certificate with its key, or both.
type ExecCredentialStatus struct {
	// ExpirationTimestamp is when the credential ends. Default: never, as far as the plugin knows.
	ExpirationTimestamp *metav1.Time
	// Token is a bearer token.
	Token string `datapolicy:"token"`
	// ClientCertificateData and ClientKeyData are in PEM.
	ClientCertificateData string
	ClientKeyData         string `datapolicy:"secret-key"`
}

// Cluster is how to reach a server. Its fields are those of a kubeconfig.
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
