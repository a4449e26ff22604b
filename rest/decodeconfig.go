package rest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/budget"
	"github.com/kinform/kinform/rest/internal/decode"
	"github.com/kinform/kinform/rest/internal/redact"
	"github.com/kinform/kinform/rest/internal/wire"
)

// decodeConfig has everything that reading responses needs: budgets, buffers, Decoders, and counts.
// It has nothing about requests, so that a program with its own http.Client does not link the
// sending half of a Client.
type decodeConfig struct {
	maxObjectBytes int
	maxListBytes   int64
	maxExpansion   int
	maxMemory      int64
	maxDepth       int
	maxSilence     time.Duration
	observer       *Observer

	redactor *redact.Redactor // hides secrets in texts of servers and proxies
	tables   decode.Tables
	buffers  [2]sync.Pool // of *[]byte, large and small, for all streams
	counters counters
	closed   atomic.Bool // the client is closed, so streams fail
}

// setOptions sets the budgets and the Observer of opts. It validates all options.
func (r *decodeConfig) setOptions(opts *Options) error {
	if opts.MaxObjectBytes < 0 || opts.MaxListBytes < 0 || opts.MaxRetryAfter < 0 || opts.MaxExpansion < 0 || opts.MaxObjectMemory < 0 ||
		opts.MaxDepth < 0 || opts.MaxCompression < 0 || opts.MaxSilence < 0 {
		return errors.New("rest: MaxObjectBytes, MaxListBytes, MaxExpansion, MaxObjectMemory, MaxDepth, MaxCompression, MaxSilence and MaxRetryAfter must not be negative")
	}
	if opts.MaxDepth > wire.MaxDepth {
		return fmt.Errorf("rest: Options.MaxDepth is %d, but nothing decodes more than %d levels", opts.MaxDepth, wire.MaxDepth)
	}
	r.maxObjectBytes = orDefault(opts.MaxObjectBytes, 16<<20)
	r.maxListBytes = orDefault(opts.MaxListBytes, 8<<30)
	r.maxExpansion, r.maxMemory, r.maxDepth = opts.MaxExpansion, opts.MaxObjectMemory, opts.MaxDepth
	r.maxSilence = orDefault(opts.MaxSilence, 90*time.Second)
	r.observer, r.redactor = opts.Observer, &redact.Redactor{}
	return nil
}

// limits returns the budgets of the options, or the defaults.
func (r *decodeConfig) limits() budget.Limits {
	return budget.Limits{
		Expansion: orDefault(r.maxExpansion, 64), Memory: orDefault(r.maxMemory, 256<<20), Depth: orDefault(r.maxDepth, wire.MaxDepth),
	}
}

// listTooLarge returns the error for a list with more than maxListBytes bytes.
func (r *decodeConfig) listTooLarge() error {
	return fmt.Errorf("%w: the pages have more than the %d bytes that rest.Options.MaxListBytes allows; "+
		"raise this limit, or request less: one namespace, a selector, only metadata", listwatch.ErrListTooLarge, r.maxListBytes)
}
