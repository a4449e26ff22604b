// Package oidc authenticates with an ID token of OpenID Connect, and refreshes the token. It is for
// kubeconfigs whose auth provider is "oidc"
// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#using-kubectl). It
// cannot log a user in: the kubeconfig must already have tokens.
package oidc

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"k8s.io/apimachinery/pkg/util/net"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// Keys of the provider's configuration.
const (
	keyIssuer       = "idp-issuer-url"
	keyClientID     = "client-id"
	keyClientSecret = "client-secret"
	keyCAFile       = "idp-certificate-authority"
	keyCAData       = "idp-certificate-authority-data" // base64
	keyIDToken      = "id-token"
	keyRefreshToken = "refresh-token"
)

const (
	// leeway is the time before its expiry at which a token is replaced, so that it does not expire
	// on the way to the server.
	leeway = 10 * time.Second

	requestTimeout   = 30 * time.Second // timeout of requests to the issuer
	maxResponseBytes = 1 << 20          // size limit of the issuer's document in bytes
)

func init() { utilruntime.Must(rest.RegisterAuthProviderPlugin("oidc", newProvider)) }

// providers has one provider for each issuer and client, so that the clients of a program share the
// refreshed token.
var providers = struct {
	mu sync.Mutex // guards following
	by map[[3]string]*provider
}{by: map[[3]string]*provider{}}

func newProvider(cluster string, config map[string]string, persister rest.AuthProviderConfigPersister) (rest.AuthProvider, error) {
	issuer, id := config[keyIssuer], config[keyClientID]
	if issuer == "" {
		return nil, fmt.Errorf("auth provider oidc: must provide %s", keyIssuer)
	}
	if id == "" {
		return nil, fmt.Errorf("auth provider oidc: must provide %s", keyClientID)
	}
	key := [3]string{cluster, issuer, id}
	providers.mu.Lock()
	defer providers.mu.Unlock()
	if p, ok := providers.by[key]; ok {
		return p, nil
	}
	client, err := issuerClient(config)
	if err != nil {
		return nil, err
	}
	p := &provider{client: client, persister: persister, refreshLock: make(chan struct{}, 1), config: maps.Clone(config)}
	providers.by[key] = p
	return p, nil
}

// issuerClient returns an HTTP client that trusts the CA bundle of the configuration.
func issuerClient(config map[string]string) (*http.Client, error) {
	ca, err := base64.StdEncoding.DecodeString(config[keyCAData])
	if err != nil {
		return nil, fmt.Errorf("auth provider oidc: %s is not base64: %w", keyCAData, err)
	}
	trusted, err := transport.TLSConfigFor(&transport.Config{TLS: transport.TLSConfig{CAFile: config[keyCAFile], CAData: ca}})
	if err != nil {
		return nil, fmt.Errorf("auth provider oidc: %w", err)
	}
	return &http.Client{
		Timeout:   requestTimeout,
		Transport: net.SetTransportDefaults(&http.Transport{TLSClientConfig: trusted, Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}),
	}, nil
}

// provider holds the tokens of a user. It is safe for concurrent use.
type provider struct {
	client    *http.Client
	persister rest.AuthProviderConfigPersister

	// semaphore of size one: guards the following fields and requests to the issuer
	refreshLock chan struct{}
	config      map[string]string
}

// Login implements rest.AuthProvider. It always returns an error, because logging in is not
// supported.
func (p *provider) Login() error { return errors.New("auth provider oidc: not yet implemented") }

// WrapTransport implements rest.AuthProvider.
func (p *provider) WrapTransport(rt http.RoundTripper) http.RoundTripper { return &roundTripper{p, rt} }

type roundTripper struct {
	provider *provider
	base     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("Authorization") != "" {
		return r.base.RoundTrip(req)
	}
	token, err := r.provider.idToken(req.Context())
	if err != nil {
		if req.Body != nil {
			// RoundTrip must always close the body, because the writer of the body may wait for the
			// close
			_ = req.Body.Close()
		}
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+token)
	return r.base.RoundTrip(req)
}

// WrappedRoundTripper implements net.RoundTripperWrapper.
func (r *roundTripper) WrappedRoundTripper() http.RoundTripper { return r.base }

// idToken returns a token that has not expired. If necessary, it gets a new token from the issuer
// and persists the changed configuration.
func (p *provider) idToken(ctx context.Context) (string, error) {
	select {
	case p.refreshLock <- struct{}{}:
		defer func() { <-p.refreshLock }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if token := p.config[keyIDToken]; token != "" {
		end, err := expiry(token)
		if err != nil {
			return "", fmt.Errorf("auth provider oidc: the id-token of the kubeconfig: %w", err)
		}
		if time.Now().Add(leeway).Before(end) {
			return token, nil
		}
	}
	if p.config[keyRefreshToken] == "" {
		return "", errors.New("auth provider oidc: no valid id-token, and cannot refresh without refresh-token: log in again")
	}
	endpoint, err := p.tokenEndpoint(ctx)
	if err != nil {
		return "", fmt.Errorf("auth provider oidc: %w", err)
	}
	exchange := oauth2.Config{ClientID: p.config[keyClientID], ClientSecret: p.config[keyClientSecret], Endpoint: oauth2.Endpoint{TokenURL: endpoint}}
	// An issuer may accept a refresh token only once. So the response must not be lost if the
	// request is cancelled.
	got, err := exchange.TokenSource(context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, p.client), &oauth2.Token{RefreshToken: p.config[keyRefreshToken]}).Token()
	if err != nil {
		return "", fmt.Errorf("auth provider oidc: failed to refresh token: %w", withoutBody(err))
	}
	token, _ := got.Extra("id_token").(string)
	if token == "" {
		return "", errors.New("auth provider oidc: token response did not contain an id_token: the scope openid is missing")
	}
	changed := maps.Clone(p.config)
	changed[keyIDToken] = token
	if got.RefreshToken != "" {
		changed[keyRefreshToken] = got.RefreshToken
	}
	p.config = changed // kept in memory even if Persist fails
	if p.persister != nil {
		if err := p.persister.Persist(maps.Clone(changed)); err != nil {
			return "", fmt.Errorf("auth provider oidc: could not persist new tokens: %w", err)
		}
	}
	return token, nil
}

// withoutBody removes the body of the issuer's response from an error, because it may contain
// tokens.
func withoutBody(err error) error {
	var retrieveErr *oauth2.RetrieveError
	if errors.As(err, &retrieveErr) && retrieveErr.Response != nil {
		return fmt.Errorf("the issuer answered %s %s", retrieveErr.Response.Status, retrieveErr.ErrorCode)
	}
	return err
}

// tokenEndpoint requests the URL of the token endpoint from the issuer.
func (p *provider) tokenEndpoint(ctx context.Context) (string, error) {
	address := strings.TrimSuffix(p.config[keyIssuer], "/") + "/.well-known/openid-configuration"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", address, resp.Status)
	}
	var document struct {
		TokenEndpoint string `json:"token_endpoint"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, maxResponseBytes)).Decode(&document); err != nil {
		return "", fmt.Errorf("%s: %w", address, err)
	}
	if document.TokenEndpoint == "" {
		return "", fmt.Errorf("%s: it names no token_endpoint", address)
	}
	return document.TokenEndpoint, nil
}

// expiry returns when a token expires. It does not verify the signature: the server verifies it.
func expiry(token string) (time.Time, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}, errors.New("ID Token is not a valid JWT")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}, errors.New("ID Token is not a valid JWT")
	}
	var claims struct {
		Expiry float64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return time.Time{}, errors.New("ID Token has no claims in JSON")
	}
	return time.Unix(int64(claims.Expiry), 0), nil
}
