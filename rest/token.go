package rest

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// tokenLifetime is how long a token that was read from a file is used before the
// file is read again. The kubelet replaces a token long before it expires.
const tokenLifetime = time.Minute

// credentials put the proof of identity on requests.
type credentials struct {
	username, password string
	token              string
	file               *tokenFile
}

func newCredentials(cfg Config, logger *slog.Logger) (credentials, error) {
	out := credentials{username: cfg.Username, password: cfg.Password, token: cfg.BearerToken}
	hasToken := cfg.BearerToken != "" || cfg.BearerTokenFile != ""
	switch {
	case hasToken && (cfg.Username != "" || cfg.Password != ""):
		return out, fmt.Errorf("a bearer token and a user name exclude each other; drop one")
	case cfg.Password != "" && cfg.Username == "":
		return out, fmt.Errorf("a password needs a user name")
	}
	if cfg.BearerTokenFile != "" {
		out.file = &tokenFile{path: cfg.BearerTokenFile, logger: logger, token: cfg.BearerToken}
		if out.file.get() == "" {
			return out, fmt.Errorf("bearer token: %w", out.file.err)
		}
	}
	return out, nil
}

// apply sets the Authorization header, and returns the token that it used.
func (c *credentials) apply(req *http.Request) string {
	token := c.token
	switch {
	case c.username != "":
		req.SetBasicAuth(c.username, c.password)
		return ""
	case c.file != nil:
		token = c.file.get()
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return token
}

// refused takes note that the server answered 401 to a request with this token.
func (c *credentials) refused(token string) {
	if c.file != nil {
		c.file.expire(token)
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
	if !f.readAt.IsZero() && time.Since(f.readAt) < tokenLifetime {
		return f.token
	}
	f.readAt = time.Now()
	var token string
	if token, f.err = readToken(f.path); f.err == nil {
		f.token = token
	} else if f.token != "" {
		f.logger.Warn("The token file cannot be read; the last good token stays in use.", "error", f.err)
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
