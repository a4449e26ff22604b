package rest

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NameMayNotBe lists names that would change the meaning of a path.
var NameMayNotBe = []string{".", ".."}

// NameMayNotContain lists parts of names that would change the meaning of a path.
var NameMayNotContain = []string{"/", "%"}

// IsValidPathSegmentName returns the reasons why name is not valid as a path segment.
func IsValidPathSegmentName(name string) []string {
	for _, wrong := range NameMayNotBe {
		if name == wrong {
			return []string{fmt.Sprintf("may not be '%s'", wrong)}
		}
	}
	return IsValidPathSegmentPrefix(name)
}

// IsValidPathSegmentPrefix returns the reasons why name is not valid as the beginning of a path
// segment.
func IsValidPathSegmentPrefix(name string) []string {
	var wrong []string
	for _, part := range NameMayNotContain {
		if strings.Contains(name, part) {
			wrong = append(wrong, fmt.Sprintf("may not contain '%s'", part))
		}
	}
	return wrong
}

// ValidatePathSegmentName calls IsValidPathSegmentPrefix if prefix is true, and otherwise
// IsValidPathSegmentName.
func ValidatePathSegmentName(name string, prefix bool) []string {
	if prefix {
		return IsValidPathSegmentPrefix(name)
	}
	return IsValidPathSegmentName(name)
}

// DefaultServerURL returns the URL of a server, and the path of an API version. host is a host, a
// host with a port, or a URL.
func DefaultServerURL(host, apiPath string, groupVersion schema.GroupVersion, defaultTLS bool) (*url.URL, string, error) {
	if host == "" {
		return nil, "", fmt.Errorf("host must be a URL or a host:port pair")
	}
	base, err := url.Parse(host)
	if err != nil || base.Scheme == "" || base.Host == "" {
		scheme := "http://"
		if defaultTLS {
			scheme = "https://"
		}
		if base, err = url.Parse(scheme + host); err != nil {
			return nil, "", err
		}
		if base.Path != "" && base.Path != "/" {
			return nil, "", fmt.Errorf("host must be a URL or a host:port pair: %q", host)
		}
	}
	return base, DefaultVersionedAPIPath(apiPath, groupVersion), nil
}

// DefaultVersionedAPIPath returns the path of an API version, such as "/api/v1" or "/apis/apps/v1".
func DefaultVersionedAPIPath(apiPath string, groupVersion schema.GroupVersion) string {
	versioned := path.Join("/", apiPath)
	if groupVersion.Group != "" {
		return path.Join(versioned, groupVersion.Group, groupVersion.Version)
	}
	return path.Join(versioned, groupVersion.Version)
}

// DefaultServerUrlFor is DefaultServerURL for a Config. If Host has no scheme, the scheme is https
// if the Config has any TLS setting.
//
//lint:ignore ST1003 the name is client-go's
func DefaultServerUrlFor(config *Config) (*url.URL, string, error) {
	host := config.Host
	if host == "" {
		host = "localhost"
	}
	secured := config.CAFile != "" || len(config.CAData) > 0 || config.CertFile != "" || len(config.CertData) > 0 || config.Insecure
	var version schema.GroupVersion
	if config.GroupVersion != nil {
		version = *config.GroupVersion
	}
	return DefaultServerURL(host, config.APIPath, version, secured)
}

// IsConfigTransportTLS reports whether a client of this Config uses TLS.
func IsConfigTransportTLS(config Config) bool {
	base, _, err := DefaultServerUrlFor(&config)
	return err == nil && base.Scheme == "https"
}
