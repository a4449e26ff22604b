package e2e_test

import (
	"github.com/kinform/kinform/rest"
	"os"
	"path/filepath"
	"strings"
)

type fakeKube struct{}

var kube fakeKube

func (fakeKube) Config() rest.Config {
	b, _ := os.ReadFile("/tmp/subres-kubeconfig")
	dir := filepath.Dir(string(b))
	text, _ := os.ReadFile(string(b))
	var host string
	for _, line := range strings.Split(string(text), "\n") {
		if i := strings.Index(line, "server: "); i >= 0 {
			host = line[i+8:]
		}
	}
	ca, _ := os.ReadFile(caFile(string(text)))
	return rest.Config{Host: host, TLS: rest.TLSConfig{CAData: ca}, BearerTokenFile: filepath.Join(dir, "token")}
}

func caFile(text string) string {
	for _, line := range strings.Split(text, "\n") {
		if i := strings.Index(line, "certificate-authority: "); i >= 0 {
			return line[i+23:]
		}
	}
	return ""
}
