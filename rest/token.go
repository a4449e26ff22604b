package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/kinform/kinform/internal/logthrottle"
	"github.com/kinform/kinform/internal/safefile"
	"github.com/kinform/kinform/rest/internal/redact"
	"github.com/kinform/kinform/rest/internal/transport"
)

// credentials adds the client's credential to requests.
type credentials struct {
	username        string
	password, token Secret
	file            *tokenFile
	source          *credentialSource // nil without Config.Credentials
	redactor        *redact.Redactor  // gets each secret before it is sent
	impersonation   http.Header
}

func newCredentials(cfg *Config, redactor *redact.Redactor, logger *slog.Logger) (*credentials, error) {
	out := &credentials{username: cfg.Username, password: cfg.Password, token: cfg.BearerToken, redactor: redactor}
	if cfg.Credentials != nil {
		out.source = &credentialSource{fetch: cfg.Credentials, timeout: orDefault(cfg.CredentialTimeout, 10*time.Minute)}
	}
	hasToken := !cfg.BearerToken.IsZero() || cfg.BearerTokenFile != ""
	hasUser := cfg.Username != "" || !cfg.Password.IsZero()
	switch {
	case hasToken && hasUser:
		return nil, errors.New("a bearer token and a user name exclude each other: remove one of them")
	case out.source != nil && (hasToken || hasUser || cfg.TLS.hasCertificate()):
		return nil, errors.New("the function Credentials excludes a token, a user name and a client certificate: remove one of them")
	case cfg.CredentialTimeout < 0:
		return nil, errors.New("CredentialTimeout must not be negative")
	case !cfg.Password.IsZero() && cfg.Username == "":
		return nil, errors.New("a password needs a user name")
	}
	var err error
	if out.impersonation, err = cfg.Impersonate.header(); err != nil {
		return nil, err
	}
	redactor.Add(cfg.BearerToken.text)
	redactor.AddBasicAuth(cfg.Username, cfg.Password.text)
	if cfg.BearerTokenFile != "" {
		out.file = &tokenFile{path: cfg.BearerTokenFile, logger: logger, token: cfg.BearerToken}
		if token, _ := out.file.get(context.Background(), transport.FirstLoadTimeout); token.IsZero() {
			return nil, fmt.Errorf("bearer token: %w", out.file.readError())
		}
	}
	return out, nil
}

// apply sets the headers that authenticate a request, and returns the credential that they come
// from. It may wait for Config.Credentials or a file, until the context of req ends.
func (c *credentials) apply(req *http.Request) (*Credential, error) {
	for name, values := range c.impersonation {
		req.Header[name] = values
	}
	credential := &Credential{Token: c.token}
	switch {
	case c.source != nil:
		var err error
		if credential, err = c.acquire(req.Context()); err != nil {
			return nil, err
		}
	case c.username != "":
		req.SetBasicAuth(c.username, c.password.Reveal())
	case c.file != nil:
		var err error
		if credential.Token, err = c.file.get(req.Context(), transport.ReloadTimeout); err != nil {
			return nil, err
		}
	}
	if !credential.Token.IsZero() {
		c.redactor.Add(credential.Token.text)
		req.Header.Set("Authorization", "Bearer "+credential.Token.Reveal())
	}
	return credential, nil
}

// acquire gets a credential from the source.
func (c *credentials) acquire(ctx context.Context) (*Credential, error) {
	credential, err := c.source.get(ctx)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	return credential, nil
}

// onUnauthorized records that the server responded with 401 to a request with this credential.
func (c *credentials) onUnauthorized(credential *Credential) {
	if c.file != nil {
		c.file.expireIfCurrent(credential.Token)
	}
	if c.source != nil {
		c.source.setRefused(credential)
	}
}

// tokenFile is a token in a file that another program replaces from time to time.
type tokenFile struct {
	path     string
	logger   *slog.Logger
	reloader transport.Reloader

	mu       sync.Mutex // guards following
	token    Secret     // the last token that was read
	err      error      // of the last read
	throttle logthrottle.Throttle
}

// get returns the token, or an empty one if no token was ever read. If the last read is too old,
// get reads the file again, and waits for it at most for the duration timeout. The only possible
// error is the error of ctx.
func (f *tokenFile) get(ctx context.Context, timeout time.Duration) (Secret, error) {
	err := f.reloader.ReloadIfDue(ctx, timeout, f.read)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.token, err
}

// readError returns the reason why there is no token.
func (f *tokenFile) readError() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		return fmt.Errorf("%s could not be read within %s", f.path, transport.FirstLoadTimeout)
	}
	return f.err
}

func (f *tokenFile) read() {
	token, err := readToken(f.path)
	f.mu.Lock()
	f.err = err
	if err == nil {
		f.token = token
	}
	warn, recovered := false, false
	if err == nil {
		recovered = f.throttle.Recovered()
	} else if !f.token.IsZero() {
		_, warn = f.throttle.Due(0, time.Now())
	}
	f.mu.Unlock()
	if warn {
		f.logger.Warn("The token file cannot be read; the last valid token stays in use.", "err", err)
	}
	if recovered {
		f.logger.Info("The token file can be read again.", "file", f.path)
	}
}

// expireIfCurrent makes the next get read the file, if token is still the current token.
func (f *tokenFile) expireIfCurrent(token Secret) {
	f.mu.Lock()
	current := f.token.Reveal() == token.Reveal()
	f.mu.Unlock()
	if current {
		f.reloader.Expire()
	}
}

func readToken(path string) (Secret, error) {
	data, err := safefile.Read(path, transport.MaxFileBytes)
	if err != nil {
		return Secret{}, err
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return Secret{}, fmt.Errorf("%s is empty", path)
	}
	if strings.ContainsFunc(token, unicode.IsControl) {
		return Secret{}, fmt.Errorf("%s must hold one token, but holds control characters or several lines", path)
	}
	return NewSecret(token), nil
}
