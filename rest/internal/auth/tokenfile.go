package auth

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/kinform/kinform/internal/logthrottle"
	"github.com/kinform/kinform/internal/safefile"
	"github.com/kinform/kinform/rest/internal/redact"
	"github.com/kinform/kinform/rest/internal/transport"
)

// TokenFile is a token in a file that another program replaces from time to time.
type TokenFile struct {
	path     string
	logger   *slog.Logger
	reloader transport.Reloader

	mu       sync.Mutex    // guards following
	token    redact.Hidden // the last token that was read
	err      error         // of the last read
	throttle logthrottle.Throttle
}

// NewTokenFile returns the TokenFile of a path. initial is the token until the file has been read,
// or nil.
func NewTokenFile(path string, initial redact.Hidden, logger *slog.Logger) *TokenFile {
	return &TokenFile{path: path, logger: logger, token: initial}
}

// Get returns the token, or nil if no token was ever read. If the last read is too old,
// Get reads the file again, and waits for it at most for the duration timeout. The only possible
// error is the error of ctx.
func (f *TokenFile) Get(ctx context.Context, timeout time.Duration) (redact.Hidden, error) {
	err := f.reloader.ReloadIfDue(ctx, timeout, f.read)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.token, err
}

// ReadError returns the reason why there is no token.
func (f *TokenFile) ReadError() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		return fmt.Errorf("%s could not be read within %s", f.path, transport.FirstLoadTimeout)
	}
	return f.err
}

func (f *TokenFile) read() {
	token, err := readToken(f.path)
	f.mu.Lock()
	f.err = err
	if err == nil {
		f.token = token
	}
	warn, recovered := false, false
	if err == nil {
		recovered = f.throttle.Recovered()
	} else if f.token != nil {
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

// ExpireIfCurrent makes the next Get read the file, if token is still the current token.
func (f *TokenFile) ExpireIfCurrent(token redact.Hidden) {
	f.mu.Lock()
	current := f.token.Reveal() == token.Reveal()
	f.mu.Unlock()
	if current {
		f.reloader.Expire()
	}
}

func readToken(path string) (redact.Hidden, error) {
	data, err := safefile.Read(path, transport.MaxFileBytes)
	if err != nil {
		return nil, err
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return nil, fmt.Errorf("%s is empty", path)
	}
	if strings.ContainsFunc(token, unicode.IsControl) {
		return nil, fmt.Errorf("%s must hold one token, but holds control characters or several lines", path)
	}
	return redact.Hide(token), nil
}
