package transport

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
	"weak"

	"k8s.io/client-go/features"
	"k8s.io/client-go/util/connrotation"
)

// New returns the transport of a configuration, with the round trippers that set headers and
// credentials.
func New(config *Config) (http.RoundTripper, error) {
	if config.Transport != nil && (config.HasCA() || config.HasCertAuth() || config.HasCertCallback() || config.TLS.Insecure) {
		return nil, errors.New("using a custom transport with TLS certificate options or the insecure flag is not allowed")
	}
	if holder := config.TLS.GetCertHolder; holder != nil && holder.GetCert == nil {
		return nil, errors.New("misconfigured holder for dialer or cert callback")
	}
	if holder := config.DialHolder; holder != nil && holder.Dial == nil {
		return nil, errors.New("misconfigured holder for dialer or cert callback")
	}
	rt := config.Transport
	if rt == nil {
		var err error
		if rt, err = transportCache.get(config); err != nil {
			return nil, err
		}
	}
	return HTTPWrappersForConfig(config, rt)
}

// open makes a transport for a configuration, without the cache.
func open(config *Config) (http.RoundTripper, error) {
	secured, err := TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	if secured == nil && config.DialHolder == nil && config.Proxy == nil {
		return http.DefaultTransport, nil
	}
	dial := (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	if config.DialHolder != nil {
		dial = config.DialHolder.Dial
	}
	r := &rotatingTransport{}
	changing := secured != nil && secured.GetClientCertificate != nil && (config.TLS.ReloadTLSFiles && config.HasCertAuth() || !config.HasCertAuth())
	if changing {
		r.dialer = connrotation.NewDialer(dial)
		dial = r.dialer.DialContext
		offer := secured.GetClientCertificate
		r.refresh = func() (*tls.Certificate, error) { return offer(nil) }
	}
	proxy := config.Proxy
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	if secured == nil {
		secured = &tls.Config{} // as in client-go, because programs may change it
	}
	plain := &http.Transport{
		Proxy: proxy, DialContext: dial, TLSClientConfig: secured,
		TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second,
		MaxIdleConnsPerHost: 25, DisableCompression: config.DisableCompression,
	}
	overHTTP2(plain)
	r.current.value.Store(plain)
	if config.TLS.ReloadCAFiles && config.TLS.CAFile != "" && features.FeatureGates().Enabled(features.ClientsAllowCARotation) {
		r.caFile, r.ca, r.caRead = config.TLS.CAFile, config.TLS.CAData, time.Now()
	}
	if r.caFile == "" && r.refresh == nil {
		return plain, nil
	}
	if r.refresh != nil && config.TLS.ReloadTLSFiles {
		scheduleCheck(weak.Make(r), CertCallbackRefreshDuration)
	}
	return r, nil
}

// overHTTP2 enables HTTP/2 for a transport. With HTTP/2 it detects a lost server within 45 seconds.
// The environment variables are client-go's: DISABLE_HTTP2, HTTP2_READ_IDLE_TIMEOUT_SECONDS and
// HTTP2_PING_TIMEOUT_SECONDS.
func overHTTP2(t *http.Transport) {
	if os.Getenv("DISABLE_HTTP2") != "" {
		return
	}
	if protos := nextProtos(t); len(protos) > 0 {
		for _, proto := range protos {
			if proto == "h2" {
				protos = nil
				break
			}
		}
		if protos != nil {
			return
		}
	}
	t.ForceAttemptHTTP2 = true
	t.HTTP2 = &http.HTTP2Config{
		SendPingTimeout: seconds("HTTP2_READ_IDLE_TIMEOUT_SECONDS", 30),
		PingTimeout:     seconds("HTTP2_PING_TIMEOUT_SECONDS", 15),
	}
}

func nextProtos(t *http.Transport) []string {
	if t.TLSClientConfig == nil {
		return nil
	}
	return t.TLSClientConfig.NextProtos
}

// seconds returns the duration in an environment variable, which has a number of seconds. If the
// variable is unset or invalid, it returns the number otherwise as a duration.
func seconds(variable string, otherwise int) time.Duration {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		otherwise = n
	}
	return time.Duration(otherwise) * time.Second
}
