package execauth

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"time"

	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/kinform/kinform/internal/safefile"
	"github.com/kinform/kinform/rest"
)

// kind is the kind of both documents: the input of a plugin, and its output.
const kind = "ExecCredential"

// credentialRequest is the document that a plugin gets; see the type ExecCredential of
// client.authentication.k8s.io.
type credentialRequest struct {
	// As in client-go, kind comes first, because a plugin may search the text for patterns.
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Spec       struct {
		Cluster     *clusterInfo `json:"cluster,omitempty"`
		Interactive bool         `json:"interactive"`
	} `json:"spec"`
}

type clusterInfo struct {
	Server                   string          `json:"server"`
	TLSServerName            string          `json:"tls-server-name,omitempty"`
	InsecureSkipTLSVerify    bool            `json:"insecure-skip-tls-verify,omitempty"`
	CertificateAuthorityData []byte          `json:"certificate-authority-data,omitempty"`
	ProxyURL                 string          `json:"proxy-url,omitempty"`
	DisableCompression       bool            `json:"disable-compression,omitempty"`
	Config                   json.RawMessage `json:"config,omitempty"`
}

// execInfo returns the document for the plugin.
func (p *Plugin) execInfo(interactive bool) ([]byte, error) {
	request := credentialRequest{APIVersion: p.opts.APIVersion, Kind: kind}
	request.Spec.Interactive = interactive
	if c := p.opts.Cluster; c != nil {
		request.Spec.Cluster = &clusterInfo{
			c.Server, c.TLSServerName, c.Insecure, c.CAData, c.ProxyURL.Reveal(), c.DisableCompression, json.RawMessage(c.Config.Reveal()),
		}
		if c.CAFile != "" {
			data, err := safefile.Read(c.CAFile, maxFile)
			if err != nil {
				return nil, fmt.Errorf("reading the CA file for the cluster: %w", err)
			}
			request.Spec.Cluster.CertificateAuthorityData = data
		}
	}
	return json.Marshal(request)
}

// maxFile bounds the size of a file with a CA bundle.
const maxFile = 4 << 20

// credentialResponse is the document that a plugin prints.
type credentialResponse struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Status     *struct {
		ExpirationTimestamp   *time.Time `json:"expirationTimestamp"`
		Token                 string     `json:"token"`
		ClientCertificateData string     `json:"clientCertificateData"`
		ClientKeyData         string     `json:"clientKeyData"`
	} `json:"status"`
}

// parse parses a document in JSON or YAML. client-go accepts YAML as well.
func parse(output []byte) (a credentialResponse, err error) {
	if err = sigsjson.UnmarshalCaseSensitivePreserveInts(output, &a); err == nil {
		return a, nil
	}
	var fromYAML credentialResponse
	asJSON, yamlErr := yaml.YAMLToJSON(output) // nearly every text is valid YAML
	if yamlErr != nil || sigsjson.UnmarshalCaseSensitivePreserveInts(asJSON, &fromYAML) != nil || fromYAML.Kind != kind {
		return a, err
	}
	return fromYAML, nil
}

// parseCredential makes a credential from the output of a plugin. It also returns the time at which
// the credential expires, or the zero time if this is unknown. Its errors never quote a possible
// secret.
func (p *Plugin) parseCredential(output []byte) (*rest.Credential, time.Time, error) {
	var none time.Time
	a, err := parse(output)
	if err != nil {
		return nil, none, malformed("the %d bytes that the plugin printed are not JSON of kind %s", len(output), kind)
	}
	switch {
	case a.Kind != kind || a.APIVersion != p.opts.APIVersion:
		return nil, none, malformed("the plugin printed kind %.100q of apiVersion %.100q instead of %s of %s: correct the configured apiVersion, or update the plugin",
			a.Kind, a.APIVersion, kind, p.opts.APIVersion)
	case a.Status == nil:
		return nil, none, malformed("no status")
	case (a.Status.ClientCertificateData == "") != (a.Status.ClientKeyData == ""):
		return nil, none, malformed("of client certificate and client key, one is missing")
	case a.Status.Token == "" && a.Status.ClientKeyData == "":
		return nil, none, malformed("neither a token nor a client certificate")
	}
	credential := &rest.Credential{Token: rest.NewSecret(a.Status.Token)}
	var expiry time.Time
	if at := a.Status.ExpirationTimestamp; at != nil {
		expiry = *at
	}
	if a.Status.ClientKeyData != "" {
		pair, err := tls.X509KeyPair([]byte(a.Status.ClientCertificateData), []byte(a.Status.ClientKeyData))
		if err != nil {
			return nil, none, malformed("client certificate: %w", err)
		}
		credential.Certificate = func() *tls.Certificate { return &pair }
		if after := pair.Leaf.NotAfter; expiry.IsZero() || after.Before(expiry) {
			expiry = after
		}
	}
	return credential, expiry, nil
}
