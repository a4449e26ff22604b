package httpcache

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// ErrNoDateHeader means that a response has no Date header.
var ErrNoDateHeader = errors.New("no Date header")

// Date returns the time in the Date header.
func Date(respHeaders http.Header) (date time.Time, err error) {
	text := respHeaders.Get("Date")
	if text == "" {
		return time.Time{}, ErrNoDateHeader
	}
	return time.Parse(time.RFC1123, text)
}

// cacheUse is how a cached response may be used.
type cacheUse int

const (
	useNone            cacheUse = iota // send the request as if there were no cached response
	useAfterValidation                 // revalidate the response with the server
	useFresh                           // return the response
)

// cacheUseOf decides how a cached response may be used (RFC 9111, 4.2 and 5.2). The arguments are
// the headers of the cached response and the headers of the request.
func cacheUseOf(cached, request http.Header) cacheUse {
	says, wants := directivesOf(cached), directivesOf(request)
	switch {
	case wants.has("no-cache"):
		return useNone
	case says.has("no-cache"):
		return useAfterValidation
	case wants.has("only-if-cached"):
		return useFresh
	}
	date, err := Date(cached)
	if err != nil {
		return useAfterValidation
	}
	lifetime := lifetimeOf(cached, says, date)
	if wants.has("max-age") {
		lifetime, _ = wants.seconds("max-age")
	}
	age := time.Since(date)
	if least, ok := wants.seconds("min-fresh"); ok {
		age += least
	}
	if wants.has("max-stale") && wants["max-stale"] == "" {
		return useFresh // at any age
	}
	if most, ok := wants.seconds("max-stale"); ok {
		age -= most
	}
	if lifetime > age {
		return useFresh
	}
	return useAfterValidation
}

// lifetimeOf returns how long after its date a response is fresh. max-age takes precedence over the
// Expires header.
func lifetimeOf(cached http.Header, cacheControl directives, date time.Time) time.Duration {
	if cacheControl.has("max-age") {
		lifetime, _ := cacheControl.seconds("max-age")
		return lifetime
	}
	expires, err := time.Parse(time.RFC1123, cached.Get("Expires"))
	if err != nil {
		return 0
	}
	return expires.Sub(date)
}

// mayUseOnError reports whether a cached response may be returned when the server returns an error
// (RFC 5861).
func mayUseOnError(cached, request http.Header) bool {
	date, err := Date(cached)
	for _, d := range []directives{directivesOf(cached), directivesOf(request)} {
		if !d.has("stale-if-error") {
			continue
		}
		most, ok := d.seconds("stale-if-error")
		if d["stale-if-error"] == "" || ok && err == nil && most > time.Since(date) {
			return true
		}
	}
	return false
}

// directives are the directives of a Cache-Control header, with their values.
type directives map[string]string

func directivesOf(h http.Header) directives {
	d := directives{}
	for _, part := range commaSeparated(h, "Cache-Control") {
		name, value, _ := strings.Cut(part, "=")
		if name = strings.TrimSpace(name); name != "" {
			d[name] = strings.TrimSpace(value)
		}
	}
	return d
}

func (d directives) has(name string) bool {
	_, ok := d[name]
	return ok
}

// seconds returns the value of a directive in seconds.
func (d directives) seconds(name string) (time.Duration, bool) {
	if !d.has(name) {
		return 0, false
	}
	seconds, err := time.ParseDuration(d[name] + "s")
	if err != nil {
		return 0, false
	}
	return seconds, true
}

// commaSeparated returns the comma-separated values of a header, from all of its lines.
func commaSeparated(h http.Header, name string) (values []string) {
	for _, line := range h.Values(name) {
		for value := range strings.SplitSeq(line, ",") {
			if value = strings.TrimSpace(value); value != "" {
				values = append(values, value)
			}
		}
	}
	return values
}
