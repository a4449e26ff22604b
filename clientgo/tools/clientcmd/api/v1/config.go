// Package v1 has the types of a kubeconfig as the file has them: with lists of named entries.
package v1

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Config is a kubeconfig: how to reach clusters, as whom, and which of these to take.
type Config struct {
	// Kind is "Config", APIVersion "v1". Both may be left out.
	Kind       string `json:"kind,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
	// Deprecated: nothing reads Preferences.
	Preferences Preferences     `json:"preferences,omitzero"`
	Clusters    []NamedCluster  `json:"clusters"`
	AuthInfos   []NamedAuthInfo `json:"users"`
	Contexts    []NamedContext  `json:"contexts"`
	// CurrentContext is the name of the context that is taken unless another one is asked for.
	CurrentContext string `json:"current-context"`
	// Extensions are parts that this package does not know. They are kept when a file is written.
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

// Preferences are how a program likes its output.
//
// Deprecated: nothing reads them.
type Preferences struct {
	Colors     bool             `json:"colors,omitempty"`
	Extensions []NamedExtension `json:"extensions,omitempty"`
}

// Cluster is how to reach a server.
type Cluster struct {
	// Server is the address: https://hostname:port.
	Server string `json:"server"`
	// TLSServerName is the name that the server's certificate must have. Default: that of the address.
	TLSServerName string `json:"tls-server-name,omitempty"`
	// InsecureSkipTLSVerify takes any certificate. Whoever is on the way can then read and change everything.
	InsecureSkipTLSVerify bool `json:"insecure-skip-tls-verify,omitempty"`
	// CertificateAuthority is the file of the server's authority.
	CertificateAuthority string `json:"certificate-authority,omitempty"`
	// CertificateAuthorityData is the authority in PEM. It goes before the file.
	CertificateAuthorityData []byte `json:"certificate-authority-data,omitempty"`
	// ProxyURL is the proxy to the server: http, https or socks5. Default: what the environment says.
	ProxyURL string `json:"proxy-url,omitempty"`
	// DisableCompression asks for answers that are not compressed.
	DisableCompression bool             `json:"disable-compression,omitempty"`
	Extensions         []NamedExtension `json:"extensions,omitempty"`
}

// Context is a cluster, a user and a namespace.
type Context struct {
	// Cluster and AuthInfo are names.
	Cluster  string `json:"cluster"`
	AuthInfo string `json:"user"`
	// Namespace is the one that is taken unless a request names another.
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
