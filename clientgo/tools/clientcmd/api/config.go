// Package api has the types of a kubeconfig as programs see them: with maps by name where the file has lists.
package api

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// SchemeGroupVersion is that of the types in a scheme. Files have version v1.
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

// Config is a kubeconfig: how to reach clusters, as whom, and which of these to take.
type Config struct {
	// Kind and APIVersion are those of a file.
	Kind       string `json:"kind,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
	// Deprecated: nothing reads Preferences.
	Preferences Preferences `json:"preferences,omitzero"`
	// Clusters, AuthInfos and Contexts are by name.
	Clusters  map[string]*Cluster  `json:"clusters"`
	AuthInfos map[string]*AuthInfo `json:"users"`
	Contexts  map[string]*Context  `json:"contexts"`
	// CurrentContext is the name of the context that is taken unless another one is asked for.
	CurrentContext string `json:"current-context"`
	// Extensions are parts that this package does not know, by name. They are kept when a file is written.
	Extensions map[string]runtime.Object `json:"extensions,omitempty"`
}

// NewConfig returns a Config without clusters.
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

// Preferences are how a program likes its output.
//
// Deprecated: nothing reads them.
type Preferences struct {
	Colors     bool                      `json:"colors,omitempty"`
	Extensions map[string]runtime.Object `json:"extensions,omitempty"`
}

// NewPreferences returns Preferences in which nothing is set.
//
// Deprecated: nothing reads them.
func NewPreferences() *Preferences {
	return &Preferences{Extensions: map[string]runtime.Object{}}
}

// Cluster is how to reach a server.
type Cluster struct {
	// LocationOfOrigin is the file that this comes from. It is not written.
	LocationOfOrigin string `json:"-"`
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
	DisableCompression bool `json:"disable-compression,omitempty"`
	// Extensions are parts that this package does not know, by name.
	Extensions map[string]runtime.Object `json:"extensions,omitempty"`
}

// NewCluster returns a Cluster in which nothing is set.
func NewCluster() *Cluster { return &Cluster{Extensions: map[string]runtime.Object{}} }

// Context is a cluster, a user and a namespace.
type Context struct {
	// LocationOfOrigin is the file that this comes from. It is not written.
	LocationOfOrigin string `json:"-"`
	// Cluster and AuthInfo are names.
	Cluster  string `json:"cluster"`
	AuthInfo string `json:"user"`
	// Namespace is the one that is taken unless a request names another.
	Namespace string `json:"namespace,omitempty"`
	// Extensions are parts that this package does not know, by name.
	Extensions map[string]runtime.Object `json:"extensions,omitempty"`
}

// NewContext returns a Context in which nothing is set.
func NewContext() *Context { return &Context{Extensions: map[string]runtime.Object{}} }
