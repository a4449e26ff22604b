package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/client-go/plugin/pkg/client/auth/exec"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// provider authenticates with a header.
type provider struct{ name string }

func (p provider) WrapTransport(rt http.RoundTripper) http.RoundTripper {
	return headerAdder(p.name)(rt)
}
func (p provider) Login() error { return nil }

// execErrorText matches the error texts of credential commands, which differ between the two
// modules. This module does not run a failed command again at once, so a case ends with its first
// failure.
var execErrorText = regexp.MustCompile(`(?s)getting credentials: .*`)

// script writes a command that prints its input.
func script(name, text string) string {
	file := filepath.Join(directory, name)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil { //nolint:gosec // a command
		panic(err)
	}
	return file
}

const credential = `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"of-exec"}}`

func tryCredentials() {
	s := serve(newResponse(200, textType, "fine"))
	defer s.Close()
	block("auth providers", func() {
		for _, name := range []string{"own", "own", "", "failing"} {
			line(name, kindOf(rest.RegisterAuthProviderPlugin(name, func(address string, config map[string]string, p rest.AuthProviderConfigPersister) (rest.AuthProvider, error) {
				line("made for", address != "", text(config), p != nil, kindOf(p.Persist(map[string]string{"a": "b"})))
				if name == "failing" {
					return nil, errProgram
				}
				return provider{name}, nil
			})))
		}
		for _, name := range []string{"own", "", "failing", "unknown", "openstack"} {
			for _, p := range []rest.AuthProviderConfigPersister{nil, persister{}} {
				of, err := rest.GetAuthProvider("address", &clientcmdapi.AuthProviderConfig{Name: name, Config: map[string]string{"k": "v"}}, p)
				line(name, of != nil, kindOf(err))
			}
			c, err := rest.RESTClientFor(configOf(s, func(c *rest.Config) { c.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: name} }))
			if line(c != nil, kindOf(err)); err == nil {
				sendOnce(s, c.Get())
			}
		}
		c, err := rest.RESTClientFor(configOf(s, func(c *rest.Config) {
			c.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "own"}
			c.Wrap(headerAdder("wrapper"))
			c.BearerToken, c.UserAgent = "t", "ua"
		}))
		if line(kindOf(err)); err == nil {
			sendOnce(s, c.Get())
		}
	})
	block("auth providers that were removed", func() {
		for _, name := range []string{"gcp", "azure"} {
			_, err := rest.GetAuthProvider("address", &clientcmdapi.AuthProviderConfig{Name: name}, nil)
			line(name, kindOf(err))
		}
	})
	commands := map[string]*clientcmdapi.ExecConfig{
		"good":              {Command: script("good", "echo '"+credential+"'")},
		"info":              {Command: script("info", `token=$(echo "$KUBERNETES_EXEC_INFO $A $*" | tr -d '"\n\\' | tr ',{}' '\n\n\n' | sort | tr '\n' ,); echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"'"$token"'"}}'`), Args: []string{"x", "y z"}, Env: []clientcmdapi.ExecEnvVar{{Name: "A", Value: "b"}}, ProvideClusterInfo: true, Config: &runtime.Unknown{Raw: []byte(`{"c":"d"}`)}},
		"info alone":        {Command: script("infoalone", `token=$(echo "$KUBERNETES_EXEC_INFO" | tr -d '"\n\\' | tr ',{}' '\n\n\n' | sort | tr '\n' ,); echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"'"$token"'"}}'`)},
		"failing":           {Command: script("failing", "echo bad >&2; exit 3")},
		"garbage":           {Command: script("garbage", "echo garbage")},
		"nothing":           {Command: script("nothing", "true")},
		"no status":         {Command: script("nostatus", `echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"}'`)},
		"empty status":      {Command: script("emptystatus", `echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{}}'`)},
		"half a pair":       {Command: script("half", `echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"clientCertificateData":"x"}}'`)},
		"bad pair":          {Command: script("badpair", `echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"clientCertificateData":"x","clientKeyData":"y"}}'`)},
		"other version":     {Command: script("other", `echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"token":"x"}}'`)},
		"other kind":        {Command: script("otherkind", `echo '{"kind":"Pod","apiVersion":"v1"}'`)},
		"missing":           {Command: filepath.Join(directory, "missing-command"), InstallHint: "install it"},
		"missing in path":   {Command: "missing-command-x", InstallHint: "install it"},
		"no command":        {},
		"no version":        {Command: "true", APIVersion: "-"},
		"bad version":       {Command: "true", APIVersion: "client.authentication.k8s.io/v9"},
		"no mode":           {Command: script("mode", "echo '"+credential+"'"), InteractiveMode: "-"},
		"always":            {Command: script("always", "echo '"+credential+"'"), InteractiveMode: clientcmdapi.AlwaysExecInteractiveMode, StdinUnavailable: true, StdinUnavailableMessage: "used elsewhere"},
		"if available":      {Command: script("ifavailable", "echo '"+credential+"'"), InteractiveMode: clientcmdapi.IfAvailableExecInteractiveMode, StdinUnavailable: true},
		"odd mode":          {Command: script("odd", "echo '"+credential+"'"), InteractiveMode: "Odd"},
		"denied":            {Command: script("denied", "echo '"+credential+"'"), PluginPolicy: clientcmdapi.PluginPolicy{PolicyType: clientcmdapi.PluginPolicyDenyAll}},
		"allowed":           {Command: script("allowed", "echo '"+credential+"'"), PluginPolicy: clientcmdapi.PluginPolicy{PolicyType: clientcmdapi.PluginPolicyAllowAll}},
		"odd policy":        {Command: script("oddpolicy", "echo '"+credential+"'"), PluginPolicy: clientcmdapi.PluginPolicy{PolicyType: "Odd"}},
		"allowlist":         {Command: script("allowlist", "echo '"+credential+"'"), PluginPolicy: clientcmdapi.PluginPolicy{PolicyType: clientcmdapi.PluginPolicyAllowlist, Allowlist: []clientcmdapi.AllowlistEntry{{Command: filepath.Join(directory, "allowlist")}}}},
		"not in allowlist":  {Command: script("notallowed", "echo '"+credential+"'"), PluginPolicy: clientcmdapi.PluginPolicy{PolicyType: clientcmdapi.PluginPolicyAllowlist, Allowlist: []clientcmdapi.AllowlistEntry{{Command: "another"}}}},
		"empty allowlist":   {Command: script("emptylist", "echo '"+credential+"'"), PluginPolicy: clientcmdapi.PluginPolicy{PolicyType: clientcmdapi.PluginPolicyAllowlist}},
		"list without type": {Command: script("listonly", "echo '"+credential+"'"), PluginPolicy: clientcmdapi.PluginPolicy{Allowlist: []clientcmdapi.AllowlistEntry{{Command: "another"}}}},
	}
	for _, name := range sorted(commands) {
		block("exec "+name, func() {
			e := commands[name]
			switch e.APIVersion {
			case "":
				e.APIVersion = "client.authentication.k8s.io/v1"
			case "-":
				e.APIVersion = ""
			}
			switch e.InteractiveMode {
			case "":
				e.InteractiveMode = clientcmdapi.NeverExecInteractiveMode
			case "-":
				e.InteractiveMode = ""
			}
			s.setResponses(newResponse(200, textType, "fine"))
			c, err := rest.RESTClientFor(configOf(s, func(c *rest.Config) { c.ExecProvider = e }))
			if line(c != nil, kindOf(err)); err != nil {
				printCounts()
				return
			}
			raw, err := c.Get().DoRaw(background)
			line(short(raw), execErrorText.ReplaceAllString(kindOf(err), "CREDENTIALS"))
			s.printRequests()
			printCounts()
			if err != nil {
				return
			}
			sendOnce(s, c.Get())
			showStream(c.Get())
			showWatch(c.Get())
			s.printRequests()
			printCounts()
			s.setResponses(newResponse(401, textType, "who?"))
			sendOnce(s, c.Get())
			s.setResponses(newResponse(200, textType, "fine"))
			sendOnce(s, c.Get())
			printCounts()
		})
	}
	block("exec certificate", func() {
		c := newCertificates()
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(c.ca)
		secured := newUnstartedServer(response{fn: func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%d %s", len(r.TLS.PeerCertificates), r.Header.Get("Authorization"))
		}})
		secured.TLS = &tls.Config{Certificates: []tls.Certificate{c.server}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MinVersion: tls.VersionTLS12}
		secured.StartTLS()
		defer secured.Close()
		for _, token := range []string{"", "t"} {
			status, err := json.Marshal(map[string]string{"clientCertificateData": string(c.cert), "clientKeyData": string(c.key), "token": token})
			if err != nil {
				panic(err)
			}
			file := filepath.Join(directory, "credential"+token)
			if err := os.WriteFile(file, []byte(`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":`+string(status)+`}`), 0o600); err != nil {
				panic(err)
			}
			client, err := rest.RESTClientFor(configOf(secured, func(config *rest.Config) {
				config.CAData = c.ca
				config.ExecProvider = &clientcmdapi.ExecConfig{Command: script("certificate"+token, "cat "+file), APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode}
			}))
			line(kindOf(err))
			for range 2 {
				raw, err := client.Get().DoRaw(background)
				line(short(raw), kindOf(err))
			}
			line(client.Client != nil)
			client.Client.CloseIdleConnections()
		}
		printCounts()
	})
	block("exec and others", func() {
		e := &clientcmdapi.ExecConfig{Command: commands["good"].Command, APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode}
		for _, change := range []func(*rest.Config){
			func(c *rest.Config) { c.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "own"} }, func(c *rest.Config) { c.BearerToken = "t" }, func(c *rest.Config) { c.Username, c.Password = "u", "p" },
			func(c *rest.Config) { c.CertData = []byte("x") }, func(c *rest.Config) { c.Transport = http.DefaultTransport }, func(c *rest.Config) { c.Wrap(headerAdder("wrapper")) }, func(c *rest.Config) { c.Impersonate.UserName = "i" },
			func(c *rest.Config) { c.BearerTokenFile = "/missing" },
		} {
			c, err := rest.RESTClientFor(configOf(s, func(c *rest.Config) { c.ExecProvider = e; change(c) }))
			if line(c != nil, kindOf(err)); err == nil {
				sendOnce(s, c.Get())
				sendOnce(s, c.Get().SetHeader("Authorization", "own"))
			}
			_, err = configOf(s, func(c *rest.Config) { c.ExecProvider = e; change(c) }).TransportConfig()
			line(kindOf(err))
		}
	})
	for i, policy := range []clientcmdapi.PluginPolicy{
		{}, {PolicyType: "AllowAll"}, {PolicyType: "DenyAll"}, {PolicyType: "Allowlist"}, {PolicyType: "Odd"}, {Allowlist: []clientcmdapi.AllowlistEntry{}}, {PolicyType: "AllowAll", Allowlist: []clientcmdapi.AllowlistEntry{{Command: "x"}}},
		{PolicyType: "Allowlist", Allowlist: []clientcmdapi.AllowlistEntry{}}, {PolicyType: "Allowlist", Allowlist: []clientcmdapi.AllowlistEntry{{}}}, {PolicyType: "Allowlist", Allowlist: []clientcmdapi.AllowlistEntry{{Command: "x"}, {}}},
		{PolicyType: "Allowlist", Allowlist: []clientcmdapi.AllowlistEntry{{Command: "x"}, {Command: "/y"}, {Command: "x"}}}, {PolicyType: "Allowlist", Allowlist: []clientcmdapi.AllowlistEntry{{Command: "a/b"}}}, {PolicyType: "Allowlist", Allowlist: []clientcmdapi.AllowlistEntry{{Command: "/a/../b"}}},
	} {
		block(fmt.Sprintf("policy %d", i), func() {
			line(kindOf(exec.ValidatePluginPolicy(policy)))
			_, err := rest.TransportFor(&rest.Config{ExecProvider: &clientcmdapi.ExecConfig{
				Command: "true", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode, PluginPolicy: policy,
			}})
			line(kindOf(err))
		})
	}
	tokens := map[string]string{"good": "of-file", "spaces": "  of-file\n\n", "empty": "", "blank": " \n", "two lines": "a\nb"}
	for _, name := range sorted(tokens) {
		block("token file "+name, func() {
			file := filepath.Join(directory, "token-"+strings.ReplaceAll(name, " ", ""))
			if err := os.WriteFile(file, []byte(tokens[name]), 0o600); err != nil {
				panic(err)
			}
			for _, token := range []string{"", "of-config"} {
				c, err := rest.RESTClientFor(configOf(s, func(c *rest.Config) { c.BearerToken, c.BearerTokenFile = token, file }))
				if line(kindOf(err)); err == nil {
					sendOnce(s, c.Get())
					sendOnce(s, c.Get().SetHeader("Authorization", "own"))
				}
			}
		})
	}
	block("token file missing", func() {
		for _, token := range []string{"", "of-config"} {
			c, err := rest.RESTClientFor(configOf(s, func(c *rest.Config) { c.BearerToken, c.BearerTokenFile = token, filepath.Join(directory, "no-token") }))
			if line(kindOf(err)); err == nil {
				sendOnce(s, c.Get())
			}
		}
		file := filepath.Join(directory, "gone")
		if err := os.WriteFile(file, []byte("first"), 0o600); err != nil {
			panic(err)
		}
		c, err := rest.RESTClientFor(configOf(s, func(c *rest.Config) { c.BearerTokenFile = file }))
		line(kindOf(err))
		sendOnce(s, c.Get())
		if err := os.WriteFile(file, []byte("second"), 0o600); err != nil {
			panic(err)
		}
		sendOnce(s, c.Get())
		_ = os.Remove(file)
		sendOnce(s, c.Get())
	})
	block("token file after a refusal", func() {
		file := filepath.Join(directory, "refused")
		if err := os.WriteFile(file, []byte("first"), 0o600); err != nil {
			panic(err)
		}
		c := clientOf(s, func(c *rest.Config) { c.BearerTokenFile = file })
		s.setResponses(newResponse(401, textType, "who?"))
		sendOnce(s, c.Get())
		if err := os.WriteFile(file, []byte("second"), 0o600); err != nil {
			panic(err)
		}
		sendOnce(s, c.Get())
		sendOnce(s, c.Get())
		s.setResponses(newResponse(200, textType, "fine"))
	})
}
