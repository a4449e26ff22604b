package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// fileLifetime is how long what was read from a file is used before the file is
// read again. The kubelet replaces a token long before it expires, and an
// authority is replaced days before.
const fileLifetime = time.Minute

// credentials put the proof of identity on requests.
type credentials struct {
	username, password string
	token              string
	file               *tokenFile
	source             func(context.Context, *Credential) (*Credential, error)
	rejected           atomic.Pointer[Credential] // of source
	impersonation      http.Header
}

func newCredentials(cfg *Config, logger *slog.Logger) (*credentials, error) {
	out := &credentials{username: cfg.Username, password: cfg.Password, token: cfg.BearerToken, source: cfg.Credentials}
	hasToken := cfg.BearerToken != "" || cfg.BearerTokenFile != ""
	hasUser := cfg.Username != "" || cfg.Password != ""
	switch {
	case hasToken && hasUser:
		return nil, errors.New("a bearer token and a user name exclude each other; drop one")
	case out.source != nil && (hasToken || hasUser || cfg.TLS.hasCertificate()):
		return nil, errors.New("the function Credentials excludes a token, a user name and a client certificate; drop one")
	case cfg.Password != "" && cfg.Username == "":
		return nil, errors.New("a password needs a user name")
	}
	var err error
	if out.impersonation, err = cfg.Impersonate.header(); err != nil {
		return nil, err
	}
	if cfg.BearerTokenFile != "" {
		out.file = &tokenFile{path: cfg.BearerTokenFile, logger: logger, token: cfg.BearerToken}
		if out.file.get() == "" {
			return nil, fmt.Errorf("bearer token: %w", out.file.err)
		}
	}
	return out, nil
}

// apply sets the headers that say who we are, and returns the credential that the
// request depends on. It may wait for a source, until the context of req ends.
func (c *credentials) apply(req *http.Request) (*Credential, error) {
	for name, values := range c.impersonation {
		req.Header[name] = values
	}
	proof := &Credential{Token: c.token}
	switch {
	case c.source != nil:
		var err error
		if proof, err = c.source(req.Context(), c.rejected.Load()); err != nil {
			return nil, fmt.Errorf("credentials: %w", err)
		} else if proof == nil {
			return nil, errors.New("credentials: neither a credential nor an error came from the function Credentials")
		}
	case c.username != "":
		req.SetBasicAuth(c.username, c.password)
	case c.file != nil:
		proof.Token = c.file.get()
	}
	if proof.Token != "" {
		req.Header.Set("Authorization", "Bearer "+proof.Token)
	}
	return proof, nil
}

// refused takes note that the server answered 401 to a request with this proof.
func (c *credentials) refused(proof *Credential) {
	if c.file != nil {
		c.file.expire(proof.Token)
	}
	if c.source != nil {
		c.rejected.Store(proof)
	}
}

// tokenFile is a token in a file that someone else replaces from time to time.
type tokenFile struct {
	path   string
	logger *slog.Logger

	mu     sync.Mutex // guards following
	token  string     // last good one
	readAt time.Time  // last attempt
	err    error      // of the last attempt
}

// get returns the token, read anew where the last reading is too old, or "" where
// there has never been one.
func (f *tokenFile) get() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.readAt.IsZero() && time.Since(f.readAt) < fileLifetime {
		return f.token
	}
	f.readAt = time.Now()
	var token string
	if token, f.err = readToken(f.path); f.err == nil {
		f.token = token
	} else if f.token != "" {
		f.logger.Warn("The token file cannot be read; the last good token stays in use.", "err", f.err)
	}
	return f.token
}

// expire makes the next get read the file, if token is still the current one.
func (f *tokenFile) expire(token string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.token == token {
		f.readAt = time.Time{}
	}
}

func readToken(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return token, nil
}
