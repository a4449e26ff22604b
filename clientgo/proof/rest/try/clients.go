package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

var makers = map[string]func(*rest.Config) (*rest.RESTClient, error){
	"versioned":   rest.RESTClientFor,
	"unversioned": rest.UnversionedRESTClientFor,
	"versioned of client": func(c *rest.Config) (*rest.RESTClient, error) {
		return rest.RESTClientForConfigAndClient(c, &http.Client{})
	},
	"unversioned of client": func(c *rest.Config) (*rest.RESTClient, error) {
		return rest.UnversionedRESTClientForConfigAndClient(c, &http.Client{})
	},
	"versioned of nothing": func(c *rest.Config) (*rest.RESTClient, error) { return rest.RESTClientForConfigAndClient(c, nil) },
	"unversioned of nothing": func(c *rest.Config) (*rest.RESTClient, error) {
		return rest.UnversionedRESTClientForConfigAndClient(c, nil)
	},
	"versioned of the default": func(c *rest.Config) (*rest.RESTClient, error) {
		return rest.RESTClientForConfigAndClient(c, http.DefaultClient)
	},
}

func tryClients() {
	s := serve(newResponse(200, textType, "fine"))
	defer s.Close()
	configs := map[string]func(*rest.Config){
		"plain":         func(c *rest.Config) {},
		"no version":    func(c *rest.Config) { c.GroupVersion = nil },
		"empty version": func(c *rest.Config) { c.GroupVersion = &schema.GroupVersion{} },
		"group": func(c *rest.Config) {
			c.GroupVersion, c.APIPath = &schema.GroupVersion{Group: "apps", Version: "v1"}, "/apis"
		},
		"no path":          func(c *rest.Config) { c.APIPath = "" },
		"odd path":         func(c *rest.Config) { c.APIPath = "../a//b/" },
		"no serializer":    func(c *rest.Config) { c.NegotiatedSerializer = nil },
		"nothing":          func(c *rest.Config) { *c = rest.Config{} },
		"no host":          func(c *rest.Config) { c.Host = "" },
		"bad host":         func(c *rest.Config) { c.Host = "host/path" },
		"worse host":       func(c *rest.Config) { c.Host = "%zz" },
		"bad host no gv":   func(c *rest.Config) { c.Host, c.GroupVersion = "%zz", nil },
		"bad TLS":          func(c *rest.Config) { c.CAFile = "/missing" },
		"bad host and TLS": func(c *rest.Config) { c.Host, c.CAFile = "host/path", "/missing" },
		"host with path":   func(c *rest.Config) { c.Host += "/a/b" },
		"host with slash":  func(c *rest.Config) { c.Host += "/" },
		"host with query":  func(c *rest.Config) { c.Host += "/?x=y#z" },
		"user in host": func(c *rest.Config) {
			u, _ := url.Parse(c.Host)
			u.User = url.UserPassword("u", "p")
			c.Host = u.String()
		},
		"user agent":      func(c *rest.Config) { c.UserAgent = "mine" },
		"timeout":         func(c *rest.Config) { c.Timeout = 7e9 },
		"token":           func(c *rest.Config) { c.BearerToken = "t" },
		"converting":      func(c *rest.Config) { c.NegotiatedSerializer = scheme.Codecs },
		"two credentials": func(c *rest.Config) { c.BearerToken, c.Username = "t", "u" },
		"own limit":       func(c *rest.Config) { c.RateLimiter = &limiter{} },
	}
	for _, name := range sorted(configs) {
		for _, maker := range sorted(makers) {
			block("client "+maker+" "+name, func() {
				config := configOf(s, configs[name])
				before := fmt.Sprint(config.UserAgent, config.QPS, config.Burst, config.ContentType, config.GroupVersion)
				c, err := makers[maker](config)
				line(c != nil, kindOf(err))
				line(before == fmt.Sprint(config.UserAgent, config.QPS, config.Burst, config.ContentType, config.GroupVersion))
				if err != nil {
					printCounts()
					return
				}
				line(c.APIVersion(), c.GetRateLimiter() != nil, c.Client == http.DefaultClient, c.Client != nil)
				if c.Client != nil {
					line(c.Client.Timeout, c.Client.Transport == http.DefaultTransport, c.Client.Transport != nil)
				}
				for _, r := range []*rest.Request{c.Get().Resource("pods"), c.Post().AbsPath("/x").Body(pod("p")), c.Put().RequestURI("/y"), c.Delete(), c.Patch("p"), c.Verb("X")} {
					if name != "no host" {
						sendOnce(s, r)
					} else {
						line(r.URL())
					}
				}
				printCounts()
			})
		}
	}
	block("clients of nothing", func() {
		for _, maker := range sorted(makers) {
			printPanics(func() {
				c, err := makers[maker](nil)
				line(maker, c != nil, kindOf(err))
			})
		}
		printPanics(func() {
			c, err := rest.NewRESTClient(nil, "", rest.ClientContentConfig{}, nil, nil)
			line(c != nil, kindOf(err))
		})
		printPanics(func() { line((&rest.RESTClient{}).Get().URL()) })
		printPanics(func() { line(kindOf((&rest.RESTClient{}).Get().Do(background).Error())) })
		printPanics(func() { line(new(rest.Request).URL()) })
		printPanics(func() { line(kindOf(new(rest.Request).Error())) })
		printPanics(func() { line((*rest.RESTClient)(nil).GetRateLimiter() == nil) })
		printPanics(func() { line((&rest.RESTClient{}).APIVersion()) })
	})
	u, _ := url.Parse(s.URL + "/root?x=y#z")
	block("a client of its parts", func() {
		negotiator := runtime.NewClientNegotiator(scheme.Codecs.WithoutConversion(), corev1.SchemeGroupVersion)
		for _, content := range []rest.ClientContentConfig{
			{}, {Negotiator: negotiator}, {ContentType: protobufType, Negotiator: negotiator}, {AcceptContentTypes: "a/b", Negotiator: negotiator}, {AcceptContentTypes: "a/b", ContentType: "c/d", GroupVersion: corev1.SchemeGroupVersion, Negotiator: negotiator},
		} {
			s.setResponses(newResponse(200, jsonType, encoded(jsonType, pod("p"))))
			l := &limiter{}
			c, err := rest.NewRESTClient(u, "/api/v1", content, l, &http.Client{})
			line(kindOf(err), c.APIVersion(), c.GetRateLimiter() == l)
			for _, r := range []func() *rest.Request{
				func() *rest.Request { return c.Get().Resource("pods") },
				func() *rest.Request { return c.Post().Resource("pods").Body(pod("p")) },
				func() *rest.Request { return c.Get().UseProtobufAsDefault() },
				func() *rest.Request { return rest.NewRequest(c).Verb("GET").Resource("x") },
				func() *rest.Request {
					return rest.NewRequestWithClient(u, "/api/v1", content, &http.Client{Timeout: 5e9}).Verb("POST").Body(pod("p"))
				},
				func() *rest.Request {
					return rest.NewRequestWithClient(u, "/api/v1", content, &http.Client{}).UseProtobufAsDefault().Verb("GET")
				},
			} {
				printPanics(func() { send(s, r) })
				printCounts()
			}
		}
		line(u)
	})
	block("a request may be sent again", func() {
		s.setResponses(newResponse(200, jsonType, encoded(jsonType, pod("p"))))
		c := clientOf(s)
		r := c.Post().Resource("pods").Body(pod("p")).Param("a", "b")
		for range 3 {
			obj, err := r.Do(background).Get()
			line(object(obj), kindOf(err))
		}
		r.Name("later").Param("c", "d").SetHeader("X-Later", "y")
		sendOnce(s, r)
		header := r.URL()
		header.Path = "/changed"
		sendOnce(s, r)
	})
	block("a context has values", func() {
		c := clientOf(s, func(c *rest.Config) {
			c.Wrap(func(rt http.RoundTripper) http.RoundTripper {
				return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
					line("value", r.Context().Value(key{}))
					return rt.RoundTrip(r)
				})
			})
		})
		ctx := context.WithValue(background, key{}, "of the caller")
		_, err := c.Get().DoRaw(ctx)
		line(kindOf(err))
		streamed(ctx, c.Get())
		printWatch(ctx, c.Get())
		printPanics(func() {
			//lint:ignore SA1012 what a program does by mistake
			_, err := c.Get().DoRaw(nil) //nolint:staticcheck // as above
			line(kindOf(err))
		})
	})
}
