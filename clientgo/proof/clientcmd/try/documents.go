package main

import (
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

const (
	named   = "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: c, user: u, namespace: ns1}}, {name: other, context: {cluster: c, user: u}}]\n"
	cluster = "clusters: [{name: c, cluster: {server: https://c, certificate-authority: ca.crt}}]\n"
	user    = "users: [{name: u, user: {token: secret}}]\n"
)

// ofUser and ofCluster return documents with the given user or cluster.
func ofUser(content string) string {
	return named + cluster + "users: [{name: u, user: " + content + "}]\n"
}
func ofCluster(content string) string {
	return named + user + "clusters: [{name: c, cluster: " + content + "}]\n"
}

var documents = map[string]string{
	"empty":      "",
	"no context": "apiVersion: v1\nkind: Config\n" + cluster + user,
	"full":       named + cluster + user + "preferences: {colors: true}\nextensions: [{name: e, extension: {a: 1}}]\n",
	"two": `apiVersion: v1
kind: Config
current-context: x
contexts: [{name: x, context: {cluster: two, user: two}}]
clusters: [{name: two, cluster: {server: "https://two/path?q=1#f", tls-server-name: name, certificate-authority-data: Y2E=}}]
users: [{name: two, user: {client-certificate: tls.crt, client-key: DIR/tls.key}}]
`,
	"insecure":          ofCluster("{server: 'https://c', insecure-skip-tls-verify: true}"),
	"plain http":        ofCluster("{server: 'http://c:8080'}"),
	"no scheme":         ofCluster("{server: 'c:6443'}"),
	"no server":         ofCluster("{certificate-authority-data: Y2E=}"),
	"nothing":           ofCluster("{}"),
	"null cluster":      ofCluster("null"),
	"both authorities":  ofCluster("{server: 'https://c', certificate-authority: ca.crt, certificate-authority-data: Y2E=}"),
	"authority missing": ofCluster("{server: 'https://c', certificate-authority: none.crt}"),
	"insecure and ca":   ofCluster("{server: 'https://c', insecure-skip-tls-verify: true, certificate-authority: DIR/ca.crt}"),
	"proxy":             ofCluster("{server: 'https://c', proxy-url: 'socks5://p:1', disable-compression: true}"),
	"proxy scheme":      ofCluster("{server: 'https://c', proxy-url: 'ftp://p'}"),
	"proxy bad":         ofCluster("{server: 'https://c', proxy-url: 'http://[::1'}"),
	"token file":        ofUser("{tokenFile: DIR/token}"),
	"token and file":    ofUser("{tokenFile: DIR/token, token: secret}"),
	"token missing":     ofUser("{tokenFile: DIR/none}"),
	"token relative":    ofUser("{tokenFile: token}"),
	"basic":             ofUser("{username: me, password: pw}"),
	"basic and token":   ofUser("{username: me, password: pw, token: t}"),
	"certificate":       ofUser("{client-certificate-data: Y3J0, client-key-data: a2V5}"),
	"certificate alone": ofUser("{client-certificate-data: Y3J0}"),
	"two certificates":  ofUser("{client-certificate: DIR/tls.crt, client-certificate-data: Y3J0, client-key: DIR/tls.key, client-key-data: a2V5}"),
	"certificate gone":  ofUser("{client-certificate: DIR/none.crt, client-key: DIR/none.key}"),
	"certificate token": ofUser("{client-certificate: DIR/tls.crt, client-key: DIR/tls.key, token: t}"),
	"anonymous":         ofUser("{}"),
	"null user":         ofUser("null"),
	"impersonate":       ofUser("{token: t, as: a, as-uid: i, as-groups: [g, h], as-user-extra: {k: [v, w]}}"),
	"groups alone":      ofUser("{token: t, as-groups: [g]}"),
	"provider":          ofUser("{auth-provider: {name: oidc, config: {k: v}}}"),
	"exec":              ofUser("{exec: {apiVersion: client.authentication.k8s.io/v1, command: cmd, args: [a], env: [{name: E, value: v}], interactiveMode: Never, provideClusterInfo: true, installHint: \"get \\e[31mit\\n\"}}"),
	"exec beta":         ofUser("{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./bin/cmd}}"),
	"exec no mode":      ofUser("{exec: {apiVersion: client.authentication.k8s.io/v1, command: cmd}}"),
	"exec bad mode":     ofUser("{exec: {apiVersion: client.authentication.k8s.io/v1, command: cmd, interactiveMode: Sometimes}}"),
	"exec no command":   ofUser("{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}}"),
	"exec no version":   ofUser("{exec: {command: cmd, interactiveMode: Never, env: [{value: v}]}}"),
	"exec and provider": ofUser("{exec: {apiVersion: client.authentication.k8s.io/v1, command: cmd, interactiveMode: Never}, auth-provider: {name: p}}"),
	"exec and token":    ofUser("{exec: {apiVersion: client.authentication.k8s.io/v1, command: cmd, interactiveMode: Never}, token: t}"),
	"exec config": named + user[:0] + "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: cmd, interactiveMode: IfAvailable}}}]\n" +
		"clusters: [{name: c, cluster: {server: 'https://c', extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: x}}]}}]\n",
	"extensions":      named + cluster + user + "extensions: [{name: e, extension: {apiVersion: v1, kind: Thing, a: [1, x]}}, {name: s, extension: text}, {name: none}]\n",
	"same name":       named + user + "clusters: [{name: c, cluster: {server: 'https://1'}}, {name: c, cluster: {server: 'https://2'}}]\n",
	"same extension":  named + cluster + user + "extensions: [{name: e, extension: 1}, {name: e, extension: 2}]\n",
	"no cluster":      named + user,
	"no user":         named + cluster,
	"context missing": "apiVersion: v1\nkind: Config\ncurrent-context: gone\n" + cluster + user,
	"context of none": "current-context: x\ncontexts: [{name: x, context: {}}]\n" + cluster + user,
	"bad namespace":   "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u, namespace: 'Not A Name'}}]\n" + cluster + user,
	"no kind":         "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n" + cluster + user,
	"other kind":      "apiVersion: v1\nkind: Pod\n" + cluster + user,
	"other version":   "apiVersion: v2\nkind: Config\n" + cluster + user,
	"other group":     "apiVersion: apps/v1\nkind: Config\n" + cluster + user,
	"unknown fields":  named + cluster + user + "what: {is: this}\n",
	"same key":        named + cluster + user + "kind: Config\n",
	"no yaml":         "a: [",
	"a list":          "[1, 2]",
	"text":            "just text",
	"null":            "null",
	"wrong type":      "clusters: {c: {server: x}}\n",
	"bad base64":      ofUser("{client-certificate-data: '!!', client-key-data: a2V5}"),
	"json":            `{"apiVersion":"v1","kind":"Config","current-context":"x","contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],"clusters":[{"name":"c","cluster":{"server":"https://c"}}],"users":[{"name":"u","user":{"token":"t"}}]}`,
	"default ns":      "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u, namespace: default}}]\n" + cluster + user,
	"empty name":      "current-context: ''\ncontexts: [{name: '', context: {cluster: c, user: u}}]\n" + cluster + user,
	"case":            "Current-Context: x\nContexts: [{name: x, context: {cluster: c, user: u}}]\n" + cluster + user,
}

var overrides = map[string]clientcmd.ConfigOverrides{
	"nothing":         {},
	"context":         {CurrentContext: "other"},
	"missing context": {CurrentContext: "gone"},
	"namespace":       {Context: api.Context{Namespace: "over"}},
	"cluster":         {Context: api.Context{Cluster: "gone"}},
	"user":            {Context: api.Context{AuthInfo: "gone"}},
	"server":          {ClusterInfo: api.Cluster{Server: "https://over"}},
	"http server":     {ClusterInfo: api.Cluster{Server: "http://over"}},
	"server name":     {ClusterInfo: api.Cluster{TLSServerName: "over"}},
	"insecure":        {ClusterInfo: api.Cluster{InsecureSkipTLSVerify: true}},
	"authority":       {ClusterInfo: api.Cluster{CertificateAuthorityData: []byte("over")}},
	"proxy":           {ClusterInfo: api.Cluster{ProxyURL: "http://over", DisableCompression: true}},
	"defaults":        {ClusterDefaults: api.Cluster{Server: "https://default", ProxyURL: "http://default"}},
	"token":           {AuthInfo: api.AuthInfo{Token: "over"}},
	"token file":      {AuthInfo: api.AuthInfo{TokenFile: "/none"}},
	"certificate":     {AuthInfo: api.AuthInfo{ClientCertificateData: []byte("crt"), ClientKeyData: []byte("key")}},
	"basic":           {AuthInfo: api.AuthInfo{Username: "over", Password: "pw"}},
	"impersonate":     {AuthInfo: api.AuthInfo{Impersonate: "over", ImpersonateGroups: []string{"g"}, ImpersonateUserExtra: map[string][]string{"k": {"v"}}}},
	"timeout":         {Timeout: "7"},
	"bad timeout":     {Timeout: "x"},
}
