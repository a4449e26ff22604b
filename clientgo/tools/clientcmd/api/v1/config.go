// Package v1 has the types of a kubeconfig file: lists of named entries.
package v1

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Config is a kubeconfig: clusters, users, and contexts, which combine a cluster with a user.
type Config struct {
	// Kind is "Config" and APIVersion "v1". Both may be omitted.
	Kind       string `json:"kind,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
	// Deprecated: nothing reads Preferences.
	Preferences Preferences     `json:"preferences,omitzero"`
	Clusters    []NamedCluster  `json:"clusters"`
	AuthInfos   []NamedAuthInfo `json:"users"`
	Contexts    []NamedContext  `json:"contexts"`
	// CurrentContext is the name of the default context.
	CurrentContext string `json:"current-context"`
	// Extensions has parts that are unknown to this package. They are written back to the file
	// unchanged.
	Extensions []NamedExtension `json:"extensions,omitempty"`
}

// GetObjectKind implements runtime.Object.
func (in *Config) GetObjectKind() schema.ObjectKind { return in }

// SetGroupVersionKind implements schema.ObjectKind.
func (in *Config) SetGroupVersionKind(gvk schema.GroupVersionKind) {
	in.APIVersion, in.Kind = gvk.ToAPIVersionAndKind()
}

// GroupVersionKind implements schema.ObjectKind.
func (in *Config) GroupVersionKind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(in.APIVersion, in.Kind)
}

// Preferences are settings for a program's output.
//
// Deprecated: nothing reads them.
type Preferences struct {
	Colors     bool             `json:"colors,omitempty"`
	Extensions []NamedExtension `json:"extensions,omitempty"`
}

// Cluster is the connection to a server.
type Cluster struct {
	// Server is the address: https://hostname:port.
	Server string `json:"server"`
	// TLSServerName is the name that the server's certificate must have. Defaults to the address's
	// host name.
	TLSServerName string `json:"tls-server-name,omitempty"`
	// InsecureSkipTLSVerify accepts any certificate. Then anyone on the network can read and change
	// the traffic.
	InsecureSkipTLSVerify bool `json:"insecure-skip-tls-verify,omitempty"`
	// CertificateAuthority is the path of the file with the server's CA bundle.
	CertificateAuthority string `json:"certificate-authority,omitempty"`
	// CertificateAuthorityData is the CA bundle in PEM. It takes precedence over
	// CertificateAuthority.
	CertificateAuthorityData []byte `json:"certificate-authority-data,omitempty"`
	// ProxyURL is the URL of the proxy to the server, with the scheme http, https or socks5.
	// Defaults to the proxy in the environment variables.
	ProxyURL string `json:"proxy-url,omitempty"`
	// DisableCompression requests uncompressed responses.
	DisableCompression bool             `json:"disable-compression,omitempty"`
	Extensions         []NamedExtension `json:"extensions,omitempty"`
}

// Context combines a cluster, a user and a namespace.
type Context struct {
	// Cluster and AuthInfo are names of entries.
	Cluster  string `json:"cluster"`
	AuthInfo string `json:"user"`
	// Namespace is the default namespace of requests.
	Namespace  string           `json:"namespace,omitempty"`
	Extensions []NamedExtension `json:"extensions,omitempty"`
}

// NamedCluster is a cluster with its name.
type NamedCluster struct {
	Name    string  `json:"name"`
	Cluster Cluster `json:"cluster"`
}

// NamedContext is a context with its name.
type NamedContext struct {
	Name    string  `json:"name"`
	Context Context `json:"context"`
}

// NamedAuthInfo is a user with a name.
type NamedAuthInfo struct {
	Name     string   `json:"name"`
	AuthInfo AuthInfo `json:"user"`
}

// NamedExtension is an extension with its name.
type NamedExtension struct {
	Name      string               `json:"name"`
	Extension runtime.RawExtension `json:"extension"`
}
