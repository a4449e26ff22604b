// Package v1beta1 has what an exec plugin reads and prints, in version v1beta1.
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ExecCredential is what a plugin reads in the variable KUBERNETES_EXEC_INFO, without a status, and what it prints.
type ExecCredential struct {
	metav1.TypeMeta `json:""`

	// Spec is what the plugin is told.
	Spec ExecCredentialSpec `json:"spec,omitempty"`
	// Status is what the plugin answers.
	Status *ExecCredentialStatus `json:"status,omitempty"`
}

// ExecCredentialSpec is what a plugin is told.
type ExecCredentialSpec struct {
	// Cluster is the server that the credential is for, if the kubeconfig says that the plugin gets it.
	Cluster *Cluster `json:"cluster,omitempty"`
	// Interactive says whether the plugin has a terminal as its standard input.
	Interactive bool `json:"interactive"`
}

// ExecCredentialStatus is a credential: a token, or a certificate with its key, or both.
type ExecCredentialStatus struct {
	// ExpirationTimestamp is when the credential ends. Default: never, as far as the plugin knows.
	ExpirationTimestamp *metav1.Time `json:"expirationTimestamp,omitempty"`
	// Token is a bearer token.
	Token string `json:"token,omitempty" datapolicy:"token"`
	// ClientCertificateData and ClientKeyData are in PEM.
	ClientCertificateData string `json:"clientCertificateData,omitempty"`
	ClientKeyData         string `json:"clientKeyData,omitempty" datapolicy:"security-key"`
}

// Cluster is how to reach a server. Its fields are those of a kubeconfig.
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
