package main

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/types"

	"k8s.io/client-go/rest"
)

func tryHeaders() {
	s := serve(newResponse(200, textType, "fine"))
	defer s.Close()
	c := clientOf(s)
	cases := map[string]func() *rest.Request{
		"one":            func() *rest.Request { return c.Get().SetHeader("X-A", "b") },
		"many":           func() *rest.Request { return c.Get().SetHeader("X-A", "b", "c", "b") },
		"lower case":     func() *rest.Request { return c.Get().SetHeader("x-a", "b").SetHeader("X-A", "c") },
		"none":           func() *rest.Request { return c.Get().SetHeader("X-A", "b").SetHeader("X-A") },
		"empty value":    func() *rest.Request { return c.Get().SetHeader("X-A", "") },
		"no accept":      func() *rest.Request { return c.Get().SetHeader("Accept") },
		"accept":         func() *rest.Request { return c.Get().SetHeader("Accept", "text/plain", "x/y") },
		"user agent":     func() *rest.Request { return c.Get().SetHeader("User-Agent", "mine") },
		"no user agent":  func() *rest.Request { return c.Get().SetHeader("User-Agent", "") },
		"authorization":  func() *rest.Request { return c.Get().SetHeader("Authorization", "Bearer x") },
		"impersonate":    func() *rest.Request { return c.Get().SetHeader("Impersonate-User", "x") },
		"bad name":       func() *rest.Request { return c.Get().SetHeader("a b", "x") },
		"bad value":      func() *rest.Request { return c.Get().SetHeader("X-A", "x\ny") },
		"empty name":     func() *rest.Request { return c.Get().SetHeader("", "x") },
		"host":           func() *rest.Request { return c.Get().SetHeader("Host", "other") },
		"length":         func() *rest.Request { return c.Post().SetHeader("Content-Length", "3").Body([]byte("four")) },
		"encoding":       func() *rest.Request { return c.Get().SetHeader("Accept-Encoding", "identity") },
		"content type":   func() *rest.Request { return c.Post().SetHeader("Content-Type", "x/y").Body([]byte("z")) },
		"after an error": func() *rest.Request { return c.Get().Name("").SetHeader("X-A", "b") },
		"request id":     func() *rest.Request { return c.Get().SetHeader("X-Request-Id", "1") },
	}
	for _, name := range sorted(cases) {
		block("header "+name, func() { send(s, cases[name]) })
	}
	for _, kind := range []types.PatchType{types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyYAMLPatchType, types.ApplyCBORPatchType, "", "own"} {
		block("patch "+string(kind), func() {
			sendOnce(s, c.Patch(kind).Resource("pods").Name("p").Body([]byte(`{}`)))
			sendOnce(s, c.Patch(kind).Resource("pods").Name("p").Body(pod("p")))
			sendOnce(s, c.Patch(kind).Resource("pods").Name("p"))
		})
	}
	kinds := []string{"", jsonType, protobufType, "application/yaml", "application/cbor", "application/json;stream=watch", "x/y", "bad", "a/b/c"}
	for _, content := range kinds {
		for _, accept := range kinds {
			block(fmt.Sprintf("content %q accept %q", content, accept), func() {
				c, err := rest.RESTClientFor(configOf(s, func(c *rest.Config) { c.ContentType, c.AcceptContentTypes = content, accept }))
				if line(kindOf(err)); err != nil {
					return
				}
				for _, r := range []*rest.Request{
					c.Get(), c.Get().UseProtobufAsDefault(), c.Get().UseProtobufAsDefaultIfPreferred(false), c.Get().SetHeader("Accept", "z").UseProtobufAsDefaultIfPreferred(true),
					c.Post().Body(pod("p")), c.Post().UseProtobufAsDefault().Body(pod("p")), c.Post().Body(pod("p")).UseProtobufAsDefault(), c.Get().UseProtobufAsDefault().UseProtobufAsDefault(),
				} {
					sendOnce(s, r)
				}
			})
		}
	}
	for _, types := range []string{
		"application/cbor", "application/cbor,application/json", "application/json,application/cbor", "application/cbor,x/y", " application/cbor ", "Application/CBOR", "application/cbor-seq", "application/cbor,application/cbor", "a/b, */*",
	} {
		block("accept "+types, func() {
			c := clientOf(s, func(c *rest.Config) { c.AcceptContentTypes = types })
			sendOnce(s, c.Get())
			c = clientOf(s, func(c *rest.Config) { c.ContentType = types })
			sendOnce(s, c.Get())
			sendOnce(s, c.Post().Body(pod("p")))
		})
	}
	block("headers of a Config", func() {
		for _, change := range []func(*rest.Config){
			func(c *rest.Config) { c.UserAgent = "mine" },
			func(c *rest.Config) { rest.AddUserAgent(c, "part") },
			func(c *rest.Config) { line(kindOf(rest.SetKubernetesDefaults(c))) },
			func(c *rest.Config) { c.Username, c.Password = "u", "p" },
			func(c *rest.Config) { c.Username = "u" },
			func(c *rest.Config) { c.Password = "p" },
			func(c *rest.Config) { c.BearerToken = "t" },
			func(c *rest.Config) { c.BearerToken = " t\n" },
			func(c *rest.Config) { c.BearerToken, c.Username, c.Password = "t", "u", "p" },
			func(c *rest.Config) { c.Impersonate.UserName = "u" },
			func(c *rest.Config) {
				c.Impersonate = rest.ImpersonationConfig{UserName: "u", UID: "1", Groups: []string{"a", "b"}, Extra: map[string][]string{"k%/ä b": {"v", "w"}, "Upper": {""}}}
			},
			func(c *rest.Config) { c.Impersonate.UID = "1" },
			func(c *rest.Config) { c.Impersonate.Groups = []string{"g"} },
			func(c *rest.Config) { c.Impersonate.Extra = map[string][]string{"k": {"v"}} },
			func(c *rest.Config) { c.DisableCompression = true },
			func(c *rest.Config) {
				c.Wrap(headerAdder("first"))
				c.Wrap(headerAdder("second"))
			},
			func(c *rest.Config) {
				c.WrapTransport = headerAdder("only")
				c.BearerToken, c.UserAgent = "t", "mine"
			},
		} {
			var c *rest.RESTClient
			var err error
			func() {
				defer func() {
					if recover() != nil {
						line("panic")
					}
				}()
				c, err = rest.RESTClientFor(configOf(s, change))
			}()
			line(kindOf(err))
			if c != nil && err == nil {
				sendOnce(s, c.Get())
				sendOnce(s, c.Get().SetHeader("User-Agent", "other").SetHeader("Authorization", "other").SetHeader("Impersonate-User", "other"))
			}
		}
	})
}

type roundTripperFunc func(*http.Request) (*http.Response, error)

func (t roundTripperFunc) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// headerAdder adds a value to a header.
func headerAdder(value string) func(http.RoundTripper) http.RoundTripper {
	return func(rt http.RoundTripper) http.RoundTripper {
		return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Add("X-Mark", value+" "+r.Header.Get("Authorization")+" "+r.Header.Get("User-Agent"))
			return rt.RoundTrip(r)
		})
	}
}
