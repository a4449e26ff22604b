// Package api has the in-memory types of a kubeconfig: maps by name in place of the file's lists.
package api

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// SchemeGroupVersion is the group and version of the types in a scheme. Files have version v1.
var SchemeGroupVersion = schema.GroupVersion{Group: "", Version: runtime.APIVersionInternal}

var (
	// SchemeBuilder adds Config to a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(func(scheme *runtime.Scheme) error {
		scheme.AddKnownTypes(SchemeGroupVersion, &Config{})
		return nil
	})

	// AddToScheme adds Config to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

// Config is a kubeconfig: clusters, users, and contexts, which combine a cluster with a user.
type Config struct {
	// Kind and APIVersion have the values in the file.
	Kind       string `json:"kind,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
	// Deprecated: nothing reads Preferences.
	Preferences Preferences `json:"preferences,omitzero"`
	// Clusters, AuthInfos and Contexts are maps by name.
	Clusters  map[string]*Cluster  `json:"clusters"`
	AuthInfos map[string]*AuthInfo `json:"users"`
	Contexts  map[string]*Context  `json:"contexts"`
	// CurrentContext is the name of the default context.
	CurrentContext string `json:"current-context"`
	// Extensions has parts that are unknown to this package, by name. They are written back to the
	// file unchanged.
	Extensions map[string]runtime.Object `json:"extensions,omitempty"`
}

// NewConfig returns an empty Config.
func NewConfig() *Config {
	return &Config{
		Clusters:   map[string]*Cluster{},
		AuthInfos:  map[string]*AuthInfo{},
		Contexts:   map[string]*Context{},
		Extensions: map[string]runtime.Object{},
	}
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
	Colors     bool                      `json:"colors,omitempty"`
	Extensions map[string]runtime.Object `json:"extensions,omitempty"`
}

// NewPreferences returns empty Preferences.
//
// Deprecated: nothing reads them.
func NewPreferences() *Preferences {
	return &Preferences{Extensions: map[string]runtime.Object{}}
}

// Cluster is the connection to a server.
type Cluster struct {
	// LocationOfOrigin is the file that this cluster was read from. It is not written.
	LocationOfOrigin string `json:"-"`
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
	DisableCompression bool `json:"disable-compression,omitempty"`
	// Extensions has parts that are unknown to this package, by name.
	Extensions map[string]runtime.Object `json:"extensions,omitempty"`
}

// NewCluster returns an empty Cluster.
func NewCluster() *Cluster { return &Cluster{Extensions: map[string]runtime.Object{}} }

// Context combines a cluster, a user and a namespace.
type Context struct {
	// LocationOfOrigin is the file that this context was read from. It is not written.
	LocationOfOrigin string `json:"-"`
	// Cluster and AuthInfo are names of entries.
	Cluster  string `json:"cluster"`
	AuthInfo string `json:"user"`
	// Namespace is the default namespace of requests.
	Namespace string `json:"namespace,omitempty"`
	// Extensions has parts that are unknown to this package, by name.
	Extensions map[string]runtime.Object `json:"extensions,omitempty"`
}

// NewContext returns an empty Context.
func NewContext() *Context { return &Context{Extensions: map[string]runtime.Object{}} }
