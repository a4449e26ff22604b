package transport

import (
	"net/http"
	"runtime"
	"strings"
	"sync"
	"weak"

	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/metrics"
)

// transportCache caches the transports of all configurations. It drops unused transports, unless
// the feature gate ClientsAllowTLSCacheGC is off.
var transportCache = &cache{entries: map[key]*entry{}}

type cache struct {
	mu      sync.Mutex // guards following
	entries map[key]*entry
}

// entry holds a transport. If unused transports are dropped, it holds the transport by a weak
// pointer.
type entry struct {
	strong http.RoundTripper
	weak   weak.Pointer[shared]
}

// shared is a transport that several configurations use.
type shared struct{ http.RoundTripper }

// WrappedRoundTripper lets callers find the http.Transport inside.
func (s *shared) WrappedRoundTripper() http.RoundTripper { return s.RoundTripper }

// CloseIdleConnections is called by http.Client.
func (s *shared) CloseIdleConnections() {
	if c, ok := s.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// key has the settings that must be equal for two configurations to share connections.
type key struct {
	insecure           bool
	ca, cert, keyData  string
	caFile, certFile   string
	keyFile            string
	serverName         string
	nextProtos         string
	disableCompression bool
	getCert            *GetCertHolder
	dial               *DialHolder
}

// keyOf reads the files of c and returns its key. shareable reports whether c may share
// connections. Functions are not comparable, so a configuration with a Proxy has its own
// connections.
func keyOf(c *Config) (k key, shareable bool, err error) {
	if err := loadFiles(c); err != nil {
		return key{}, false, err
	}
	k = key{
		insecure: c.TLS.Insecure, ca: string(c.TLS.CAData), serverName: c.TLS.ServerName, nextProtos: strings.Join(c.TLS.NextProtos, ","),
		disableCompression: c.DisableCompression, getCert: c.TLS.GetCertHolder, dial: c.DialHolder,
	}
	if c.TLS.ReloadTLSFiles {
		k.certFile, k.keyFile = c.TLS.CertFile, c.TLS.KeyFile
	} else {
		k.cert, k.keyData = string(c.TLS.CertData), string(c.TLS.KeyData)
	}
	if c.TLS.ReloadCAFiles && features.FeatureGates().Enabled(features.ClientsAllowCARotation) {
		k.caFile, k.ca = c.TLS.CAFile, ""
	}
	return k, c.Proxy == nil, nil
}

// get returns the transport of a configuration. It makes the transport if the cache does not have
// it.
func (c *cache) get(config *Config) (http.RoundTripper, error) {
	k, shareable, err := keyOf(config)
	if err != nil {
		return nil, err
	}
	if !shareable {
		metrics.TransportCreateCalls.Increment("uncacheable")
		return open(config)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	result := "miss"
	if e := c.entries[k]; e != nil {
		if rt := e.get(); rt != nil {
			metrics.TransportCreateCalls.Increment("hit")
			return rt, nil
		}
		result = "miss-gc"
	}
	metrics.TransportCreateCalls.Increment(result)
	rt, err := open(config)
	if err != nil || rt == http.DefaultTransport {
		return rt, err
	}
	if !features.FeatureGates().Enabled(features.ClientsAllowTLSCacheGC) {
		c.entries[k] = &entry{strong: rt}
	} else {
		s := &shared{rt}
		e := &entry{weak: weak.Make(s)}
		c.entries[k] = e
		runtime.AddCleanup(s, func(rt http.RoundTripper) { c.forget(k, e, rt) }, rt)
		rt = s
	}
	metrics.TransportCacheEntries.Observe(len(c.entries))
	return rt, nil
}

func (e *entry) get() http.RoundTripper {
	if e.strong != nil {
		return e.strong
	}
	if s := e.weak.Value(); s != nil {
		return s
	}
	return nil
}

// forget removes an entry whose transport is unused, unless another entry has replaced it.
func (c *cache) forget(k key, e *entry, rt http.RoundTripper) {
	if idle, ok := rt.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[k] != e {
		metrics.TransportCacheGCCalls.Increment("skipped")
		return
	}
	delete(c.entries, k)
	metrics.TransportCacheGCCalls.Increment("deleted")
	metrics.TransportCacheEntries.Observe(len(c.entries))
}
