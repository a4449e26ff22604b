package apitest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
)

// BenchmarkList lists 10,000 pods over the loopback interface. All objects are already encoded, so
// it measures only the writing of bytes.
func BenchmarkList(b *testing.B) {
	srv := apitest.Start(b, apitest.Options{})
	if err := apitest.Populate(srv, apitest.Pods(10_000, apitest.PodOptions{})); err != nil {
		b.Fatal(err)
	}
	for name, accept := range encodings {
		b.Run(name, func(b *testing.B) {
			req, err := http.NewRequest(http.MethodGet, srv.URL()+"/api/v1/pods", nil)
			if err != nil {
				b.Fatal(err)
			}
			req.Header.Set("Accept", accept)
			b.ReportAllocs()
			for b.Loop() {
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				n, err := io.Copy(io.Discard, resp.Body)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(n)
				_ = resp.Body.Close()
			}
		})
	}
	http.DefaultClient.CloseIdleConnections()
}

// BenchmarkUpdate updates one of 10,000 pods, with no watchers and with a hundred.
func BenchmarkUpdate(b *testing.B) {
	for _, watchers := range []int{0, 100} {
		b.Run(fmt.Sprintf("watchers=%d", watchers), func(b *testing.B) {
			srv := apitest.Start(b, apitest.Options{})
			if err := apitest.Populate(srv, apitest.Pods(10_000, apitest.PodOptions{})); err != nil {
				b.Fatal(err)
			}
			stored, err := srv.Get(pods, key("ns-0", "pod-005000"))
			if err != nil {
				b.Fatal(err)
			}
			p := stored.(*corev1.Pod)
			p.ResourceVersion = ""
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			for range watchers {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL()+"/api/v1/pods?watch=1&resourceVersion="+srv.ResourceVersion(), nil)
				if err != nil {
					b.Fatal(err)
				}
				req.Header.Set("Accept", protoType)
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				go func() { _, _ = io.Copy(io.Discard, resp.Body); _ = resp.Body.Close() }()
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				p.Labels["n"] = strconv.Itoa(i)
				if _, err := srv.Update(p); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// BenchmarkPut measures an update by a client, without tracking of managed fields.
func BenchmarkPut(b *testing.B) {
	srv := apitest.Start(b, apitest.Options{})
	if err := apitest.Populate(srv, apitest.Pods(1, apitest.PodOptions{})); err != nil {
		b.Fatal(err)
	}
	stored, _, err := srv.List(pods, "")
	if err != nil {
		b.Fatal(err)
	}
	p := stored[0].(*corev1.Pod)
	p.ResourceVersion = ""
	defer http.DefaultClient.CloseIdleConnections()
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		p.Labels["n"] = strconv.Itoa(i)
		body, err := json.Marshal(p)
		if err != nil {
			b.Fatal(err)
		}
		req, err := http.NewRequest(http.MethodPut, srv.URL()+"/api/v1/namespaces/"+p.Namespace+"/pods/"+p.Name, bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			b.Fatal(resp.Status)
		}
		i++
	}
}
