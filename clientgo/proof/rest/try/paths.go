package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/rest"
)

// segments are valid and invalid path segments.
var segments = []string{
	"", ".", "..", "...", "a", "A", "a/b", "/a", "a/", "/", "//", "a//b", "../a", "a/../b", "a%b", "%2f", "a b", "ä", "a?b=c", "a#b", "a:b", "a;b", "a+b", "a&b", "\x00", "\n", "\xff",
	"http://other/a", "//other/a", strings.Repeat("x", 300),
}

var setters = []struct {
	name string
	fn   func(*rest.Request, string) *rest.Request
}{
	{"namespace", func(r *rest.Request, s string) *rest.Request { return r.Resource("pods").Namespace(s) }},
	{"resource", func(r *rest.Request, s string) *rest.Request { return r.Namespace("ns").Resource(s) }},
	{"name", func(r *rest.Request, s string) *rest.Request { return r.Namespace("ns").Resource("pods").Name(s) }},
	{"subresource", func(r *rest.Request, s string) *rest.Request {
		return r.Namespace("ns").Resource("pods").Name("p").SubResource(s)
	}},
	{"second subresource", func(r *rest.Request, s string) *rest.Request {
		return r.Namespace("ns").Resource("pods").Name("p").SubResource("proxy", s)
	}},
	{"prefix", func(r *rest.Request, s string) *rest.Request { return r.Prefix(s).Resource("pods") }},
	{"prefixes", func(r *rest.Request, s string) *rest.Request { return r.Prefix("x", s).Prefix(s, "y").Resource("pods") }},
	{"suffix", func(r *rest.Request, s string) *rest.Request { return r.Resource("pods").Name("p").Suffix(s) }},
	{"suffixes", func(r *rest.Request, s string) *rest.Request { return r.Suffix("x", s).Suffix(s, "y") }},
	{"abspath", func(r *rest.Request, s string) *rest.Request { return r.AbsPath(s) }},
	{"abspaths", func(r *rest.Request, s string) *rest.Request { return r.AbsPath("/x", s) }},
	{"abspath and resource", func(r *rest.Request, s string) *rest.Request { return r.AbsPath(s).Resource("pods").Name("p") }},
	{"uri", func(r *rest.Request, s string) *rest.Request { return r.RequestURI(s) }},
	{"uri and param", func(r *rest.Request, s string) *rest.Request { return r.Param("a", "b").RequestURI(s).Param("c", "d") }},
}

func tryPaths() {
	s := serve(newResponse(200, textType, "fine"))
	defer s.Close()
	plain, below := clientOf(s), clientOf(s, func(c *rest.Config) { c.Host += "/below/it?x=y#z" })
	for _, setter := range setters {
		for _, segment := range segments {
			block(fmt.Sprintf("%s %.20q", setter.name, segment), func() {
				sendOnce(s, setter.fn(plain.Get(), segment))
				sendOnce(s, setter.fn(below.Get(), segment))
				printCounts()
			})
		}
	}
	tryWhole(s, plain)
	tryTwice(s, plain)
	tryNames()
}

// tryWhole sends requests whose paths have all combinations of the parts of a path.
func tryWhole(s *server, c *rest.RESTClient) {
	for _, verb := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "get", "list", "", "B A D"} {
		for _, namespace := range []string{"unset", "", "ns"} {
			block(fmt.Sprintf("verb %q namespace %q", verb, namespace), func() {
				for _, parts := range []string{"", "r", "n", "s", "rn", "rs", "ns", "rns", "rnsx"} {
					r := c.Verb(verb)
					if namespace != "unset" {
						r.Namespace(namespace)
					}
					if strings.Contains(parts, "r") {
						r.Resource("Pods")
					}
					if strings.Contains(parts, "n") {
						r.Name("Name")
					}
					if strings.Contains(parts, "s") {
						r.SubResource("Status", "log")
					}
					if strings.Contains(parts, "x") {
						r.Suffix("More")
					}
					line(parts)
					sendOnce(s, r)
					printCounts()
				}
			})
		}
	}
	for i, base := range []string{"/", "", "/p", "/p/", "/p//q", "/ä b", "/%41%2f"} {
		block(fmt.Sprintf("base %d", i), func() {
			u, err := url.Parse(s.URL + base)
			line(kindOf(err))
			for _, versioned := range []string{"", "/", "/api/v1", "api/v1", "/api/v1/", "../x"} {
				c, err := rest.NewRESTClient(u, versioned, rest.ClientContentConfig{}, nil, http.DefaultClient)
				line(versioned, kindOf(err))
				sendOnce(s, c.Get().Resource("pods"))
				sendOnce(s, c.Get().AbsPath("/healthz"))
				sendOnce(s, rest.NewRequestWithClient(u, versioned, rest.ClientContentConfig{}, http.DefaultClient).Verb("GET").Prefix("a").Resource("pods"))
				sendOnce(s, rest.NewRequestWithClient(u, versioned, rest.ClientContentConfig{}, nil).Verb("GET").AbsPath("/a/").Name("x"))
			}
			line(u)
		})
	}
	block("no base", func() {
		r := rest.NewRequestWithClient(nil, "/api", rest.ClientContentConfig{}, nil).Verb("GET").Resource("pods")
		line(r.URL())
		_, err := r.DoRaw(background)
		line(kindOf(err))
	})
	block("no base and an absolute path", func() {
		line(rest.NewRequestWithClient(nil, "/api", rest.ClientContentConfig{}, nil).Verb("GET").AbsPath("x/").URL())
	})
	block("the parts of a prefix", func() {
		for _, parts := range [][]string{nil, {}, {""}, {"", ""}, {"a", "", "b"}, {"a", "..", "b"}, {"..", "..", ".."}, {"/a/", "/b/"}, {"a b", "c%d"}} {
			for _, r := range []*rest.Request{c.Get().Prefix(parts...), c.Get().Suffix(parts...), c.Get().AbsPath(parts...), c.Get().SubResource(parts...)} {
				line(strings.Join(parts, ","), r.URL(), kindOf(r.Error()))
			}
		}
	})
}

// tryTwice sets each part of a path twice.
func tryTwice(s *server, c *rest.RESTClient) {
	steps := map[string]func(*rest.Request){
		"namespace a": func(r *rest.Request) { r.Namespace("a") }, "namespace empty": func(r *rest.Request) { r.Namespace("") },
		"namespace bad": func(r *rest.Request) { r.Namespace("a/b") }, "scoped": func(r *rest.Request) { r.NamespaceIfScoped("b", true) },
		"unscoped": func(r *rest.Request) { r.NamespaceIfScoped("b", false) }, "resource a": func(r *rest.Request) { r.Resource("a") },
		"resource empty": func(r *rest.Request) { r.Resource("") }, "resource bad": func(r *rest.Request) { r.Resource("..") },
		"name a": func(r *rest.Request) { r.Name("a") }, "name empty": func(r *rest.Request) { r.Name("") }, "name bad": func(r *rest.Request) { r.Name("%") },
		"subresource a": func(r *rest.Request) { r.SubResource("a") }, "subresource none": func(r *rest.Request) { r.SubResource() },
		"subresource empty": func(r *rest.Request) { r.SubResource("", "") }, "subresource bad": func(r *rest.Request) { r.SubResource("a", "b/c") },
		"prefix": func(r *rest.Request) { r.Prefix("a") }, "suffix": func(r *rest.Request) { r.Suffix("a") }, "abspath": func(r *rest.Request) { r.AbsPath("/a/") },
		"uri": func(r *rest.Request) { r.RequestURI("/a?b=c") }, "uri bad": func(r *rest.Request) { r.RequestURI("%zz") },
		"param": func(r *rest.Request) { r.Param("a", "b") }, "timeout": func(r *rest.Request) { r.Timeout(3e9) }, "body": func(r *rest.Request) { r.Body([]byte("x")) },
		"body bad": func(r *rest.Request) { r.Body(7) }, "header": func(r *rest.Request) { r.SetHeader("X-A", "b") },
	}
	for _, first := range sorted(steps) {
		block("twice: "+first, func() {
			for _, second := range sorted(steps) {
				r := c.Post()
				steps[first](r)
				steps[second](r)
				line("and", second, r.URL(), kindOf(r.Error()))
			}
			r := c.Get()
			steps[first](r)
			steps[first](r)
			sendOnce(s, r)
		})
	}
}

// tryNames calls the functions that validate names.
func tryNames() {
	for _, segment := range segments {
		block(fmt.Sprintf("segment %.20q", segment), func() {
			line(rest.IsValidPathSegmentName(segment), len(rest.IsValidPathSegmentName(segment)))
			line(rest.IsValidPathSegmentPrefix(segment), len(rest.IsValidPathSegmentPrefix(segment)))
			line(rest.ValidatePathSegmentName(segment, true), rest.ValidatePathSegmentName(segment, false))
			for _, group := range []string{"", "apps"} {
				line(rest.DefaultVersionedAPIPath(segment, schema.GroupVersion{Group: group, Version: "v1"}), rest.DefaultVersionedAPIPath("/api", schema.GroupVersion{Group: group, Version: segment}))
			}
		})
	}
	for _, host := range []string{
		"", "host", "host:1", "host:1/", "host/path", "http://host", "https://host", "https://host:1/path/", "http://host/?a=b#c", "ftp://host", "unix:///a", ":1", "http://", "//host", "/path", "[::1]", "[::1]:1", "::1",
		"a b", "http://a b", "%zz", "http://%zz", "host:x", "http://host:x", "user:pass@host", "http://user:pass@host", "127.0.0.1:6443", "HOST", "HTTP://HOST", "localhost?x=y",
	} {
		block(fmt.Sprintf("host %q", host), func() {
			for _, secured := range []bool{false, true} {
				u, path, err := rest.DefaultServerURL(host, "/apis", schema.GroupVersion{Group: "g", Version: "v"}, secured)
				line(u, path, kindOf(err))
			}
			for _, c := range []rest.Config{
				{Host: host}, {Host: host, APIPath: "api"}, {Host: host, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, {Host: host, TLSClientConfig: rest.TLSClientConfig{CAFile: "x"}},
				{Host: host, TLSClientConfig: rest.TLSClientConfig{CAData: []byte("x")}}, {Host: host, TLSClientConfig: rest.TLSClientConfig{CertFile: "x"}}, {Host: host, TLSClientConfig: rest.TLSClientConfig{CertData: []byte("x")}},
				{Host: host, TLSClientConfig: rest.TLSClientConfig{KeyFile: "x"}}, {Host: host, TLSClientConfig: rest.TLSClientConfig{ServerName: "x"}},
				{Host: host, APIPath: "/apis", ContentConfig: rest.ContentConfig{GroupVersion: &schema.GroupVersion{Group: "g", Version: "v"}}},
			} {
				u, path, err := rest.DefaultServerUrlFor(&c)
				line(u, path, kindOf(err), rest.IsConfigTransportTLS(c))
			}
		})
	}
}
