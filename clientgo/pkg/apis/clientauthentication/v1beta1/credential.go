// Package v1beta1 has the input and output types of an exec plugin, in version v1beta1.
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ExecCredential is the input and the output of a plugin. The environment variable
// KUBERNETES_EXEC_INFO holds the input, without a status. The plugin prints the output, with a
// status.
type ExecCredential struct {
	metav1.TypeMeta `json:""`

	// Spec is the input of the plugin.
	Spec ExecCredentialSpec `json:"spec,omitempty"`
	// Status is the output of the plugin.
	Status *ExecCredentialStatus `json:"status,omitempty"`
}

// ExecCredentialSpec is the input of a plugin.
type ExecCredentialSpec struct {
	// Cluster is the server that the credential is for. It is set only if ProvideClusterInfo is set
	// in the kubeconfig.
	Cluster *Cluster `json:"cluster,omitempty"`
	// Interactive reports whether the plugin's standard input is a terminal.
	Interactive bool `json:"interactive"`
}

// ExecCredentialStatus is a credential: a token, or a certificate with its key, or both.
type ExecCredentialStatus struct {
	// ExpirationTimestamp is when the credential expires. Defaults to nil, which means that the
	// expiry is unknown.
	ExpirationTimestamp *metav1.Time `json:"expirationTimestamp,omitempty"`
	// Token is a bearer token.
	Token string `json:"token,omitempty" datapolicy:"token"`
	// ClientCertificateData and ClientKeyData are in PEM.
	ClientCertificateData string `json:"clientCertificateData,omitempty"`
	ClientKeyData         string `json:"clientKeyData,omitempty" datapolicy:"security-key"`
}

// Cluster describes how to connect to a server. It has the fields of a cluster in a kubeconfig.
type Cluster struct {
	Server                string `json:"server"`
	TLSServerName         string `json:"tls-server-name,omitempty"`
	InsecureSkipTLSVerify bool   `json:"insecure-skip-tls-verify,omitempty"`
	// CertificateAuthorityData is in PEM.
	CertificateAuthorityData []byte `json:"certificate-authority-data,omitempty"`
	ProxyURL                 string `json:"proxy-url,omitempty"`
	DisableCompression       bool   `json:"disable-compression,omitempty"`
	// Config is the cluster's extension "client.authentication.k8s.io/exec".
	Config runtime.RawExtension `json:"config,omitempty"`
}
