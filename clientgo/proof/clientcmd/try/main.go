// Command try uses kubeconfigs as programs do, and prints the resulting configs, errors and files.
package main

//lint:file-ignore SA1019 preferences are kept, though nothing reads them

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

var dir string // folder of the written files, printed as DIR

func main() {
	var err error
	if dir, err = os.MkdirTemp("", "clientcmd"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"KUBECONFIG", "KUBERNETES_MASTER", "KUBERNETES_SERVICE_HOST", "POD_NAMESPACE"} {
		os.Unsetenv(name)
	}
	for _, name := range []string{"ca.crt", "tls.crt", "tls.key", "token"} {
		write(name, "content of "+name)
	}
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		load(name, documents[name])
	}
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		override(name, overrides[name])
	}
	merge()
	modify()
	parse()
	paths()
	prompt()
}

// printLine prints a line of a scenario. It replaces parts that differ between runs.
func printLine(format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), dir, "DIR")
	fmt.Println(strings.ReplaceAll(text, "\n", `\n`))
}

func write(name, content string) string {
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		panic(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(content, "DIR", dir)), 0o600); err != nil {
		panic(err)
	}
	return path
}

func describe(err error) string {
	if err == nil {
		return "no error"
	}
	return fmt.Sprintf("%s (empty %t, invalid %t, no context %t, not there %t)", err,
		clientcmd.IsEmptyConfig(err), clientcmd.IsConfigurationInvalid(err), clientcmd.IsContextNotFound(err), errors.Is(err, os.ErrNotExist))
}

func inJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func describeREST(c *rest.Config) string {
	if c == nil {
		return "none"
	}
	proxy := ""
	if c.Proxy != nil {
		u, err := c.Proxy(nil)
		proxy = fmt.Sprint(u, err)
	}
	exec := ""
	if c.ExecProvider != nil {
		exec = fmt.Sprintf("%s %v %v %q %q %v %v", c.ExecProvider.Command, c.ExecProvider.Args, c.ExecProvider.Env, c.ExecProvider.InstallHint,
			c.ExecProvider.InteractiveMode, c.ExecProvider.ProvideClusterInfo, inJSON(c.ExecProvider.Config))
	}
	provider := ""
	if c.AuthProvider != nil {
		provider = fmt.Sprintf("%s %v %t", c.AuthProvider.Name, c.AuthProvider.Config, c.AuthConfigPersister != nil)
	}
	return fmt.Sprintf("host=%q path=%q user=%q password=%q token=%q tokenfile=%q as=%+v tls=%q/%q/%q/%q/%q/%q/%t/%q timeout=%v proxy=%q compression=%t exec=%q provider=%q",
		c.Host, c.APIPath, c.Username, c.Password, c.BearerToken, c.BearerTokenFile, c.Impersonate, c.CAFile, c.CAData, c.CertFile, c.CertData, c.KeyFile, c.KeyData, c.Insecure,
		c.ServerName, c.Timeout, proxy, !c.DisableCompression, exec, provider)
}

func describeClient(c clientcmd.ClientConfig) string {
	config, err := c.ClientConfig()
	namespace, overridden, nsErr := c.Namespace()
	return fmt.Sprintf("%s | %s | namespace %q %t %s", describeREST(config), describe(err), namespace, overridden, describe(nsErr))
}

func load(name, document string) {
	printLine("document %s:", name)
	config, err := clientcmd.Load([]byte(strings.ReplaceAll(document, "DIR", dir)))
	printLine("%s load: %s", name, describe(err))
	if err == nil {
		printLine("%s content: %s", name, inJSON(config))
		text, err := clientcmd.Write(*config)
		printLine("%s written: %s %s", name, text, describe(err))
		printLine("%s validate: %s", name, sortedError(clientcmd.Validate(*config)))
		printLine("%s usable: %s", name, describe(clientcmd.ConfirmUsable(*config, "")))
		printLine("%s usable other: %s", name, describe(clientcmd.ConfirmUsable(*config, "other")))
	}
	file := write(name+".yaml", document)
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: file}
	printLine("%s client: %s", name, describeClient(clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{})))
	printLine("%s client of other: %s", name, describeClient(clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: "other"})))
	c, err := clientcmd.BuildConfigFromFlags("", file)
	printLine("%s flags: %s %s", name, describeREST(c), describe(err))
	c, err = clientcmd.BuildConfigFromFlags("https://master", file)
	printLine("%s flags with master: %s %s", name, describeREST(c), describe(err))
	c, err = clientcmd.RESTConfigFromKubeConfig([]byte(strings.ReplaceAll(document, "DIR", dir)))
	printLine("%s bytes: %s %s", name, describeREST(c), describe(err))
	if config != nil {
		err := clientcmd.ResolveConfigPaths(config, "/base")
		printLine("%s resolved: %s %s", name, inJSON(config), describe(err))
		err = clientcmd.RelativizeConfigPaths(config, "/base")
		printLine("%s relative: %s %s", name, inJSON(config), describe(err))
	}
}

// sortedError describes an error whose parts are in random order.
func sortedError(err error) string {
	aggregate, ok := err.(interface{ Errors() []error })
	if !ok {
		return describe(err)
	}
	var parts []string
	for _, e := range aggregate.Errors() {
		parts = append(parts, e.Error())
	}
	slices.Sort(parts)
	return fmt.Sprintf("%q (empty %t, invalid %t)", parts, clientcmd.IsEmptyConfig(err), clientcmd.IsConfigurationInvalid(err))
}

func override(name string, o clientcmd.ConfigOverrides) {
	for _, document := range []string{"full", "two", "insecure", "plain http", "empty", "no context"} {
		file := write("o.yaml", documents[document])
		c := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{ExplicitPath: file}, &o)
		printLine("override %s of %s: %s", name, document, describeClient(c))
		config, err := clientcmd.Load([]byte(documents[document]))
		if err != nil {
			panic(err)
		}
		direct := clientcmd.NewDefaultClientConfig(*config, &o)
		printLine("override %s of %s, direct: %s", name, document, describeClient(direct))
		merged, err := direct.MergedRawConfig()
		printLine("override %s of %s, raw: %s %s", name, document, inJSON(merged), describe(err))
		printLine("override %s of %s, of a context: %s", name, document, describeClient(clientcmd.NewNonInteractiveClientConfig(*config, "other", &o, nil)))
	}
}

func merge() {
	a, b := write("m/a/config", documents["two"]), write("m/b/config", documents["full"])
	bad := write("m/bad", "a: [")
	none := filepath.Join(dir, "m/none")
	for name, files := range map[string][]string{"ab": {a, b}, "ba": {b, a}, "missing": {none, b}, "none": {none}, "nothing": {}, "empty": {"", a}, "bad": {a, bad}} {
		warned := ""
		rules := &clientcmd.ClientConfigLoadingRules{Precedence: files, WarnIfAllMissing: true, Warner: func(err error) { warned = err.Error() }}
		config, err := rules.Load()
		printLine("merge %s: %s %s warned %q", name, inJSON(config), describe(err), warned)
		printLine("merge %s files: %q %q %t", name, rules.GetDefaultFilename(), rules.GetLoadingPrecedence(), rules.IsExplicitFile())
		printLine("merge %s client: %s", name, describeClient(clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{})))
		starting, err := rules.GetStartingConfig()
		printLine("merge %s starting: %s %s", name, inJSON(starting), describe(err))
		rules.DoNotResolvePaths = true
		config, err = rules.Load()
		printLine("merge %s unresolved: %s %s", name, inJSON(config), describe(err))
		os.Setenv("KUBECONFIG", strings.Join(files, string(filepath.ListSeparator)))
		options := clientcmd.NewDefaultPathOptions()
		options.GlobalFile = filepath.Join(dir, "global")
		if len(files) > 0 {
			printLine("merge %s options: %q %q %q %t", name, options.GetDefaultFilename(), options.GetLoadingPrecedence(), options.GetEnvVarFiles(), options.IsExplicitFile())
		}
		printLine("merge %s rules: %q", name, clientcmd.NewDefaultClientConfigLoadingRules().Precedence[:min(1, len(files))])
		os.Unsetenv("KUBECONFIG")
	}
	missing := &clientcmd.ClientConfigLoadingRules{ExplicitPath: none}
	_, err := missing.Load()
	printLine("missing explicit: %s", describe(err))
	printLine("missing explicit client: %s", describeClient(clientcmd.NewNonInteractiveDeferredLoadingClientConfig(missing, &clientcmd.ConfigOverrides{})))
	starting, err := missing.GetStartingConfig()
	printLine("missing explicit starting: %s %s", inJSON(starting), describe(err))
	migrated := &clientcmd.ClientConfigLoadingRules{Precedence: []string{none}, MigrationRules: map[string]string{none: a}}
	config, err := migrated.Load()
	printLine("migrated: %s %s", inJSON(config), describe(err))
}

func modify() {
	for name, change := range map[string]func(*api.Config){
		"nothing": func(*api.Config) {},
		"context": func(c *api.Config) { c.CurrentContext = "other" },
		"clear":   func(c *api.Config) { c.CurrentContext = "" },
		"add": func(c *api.Config) {
			c.Clusters["new"] = &api.Cluster{Server: "https://new", CertificateAuthority: filepath.Join(dir, "n/a/ca.crt")}
			c.Contexts["new"] = &api.Context{Cluster: "new", AuthInfo: "new", Namespace: "n"}
			c.AuthInfos["new"] = &api.AuthInfo{Token: "t", ClientCertificate: "/elsewhere/crt"}
		},
		"change": func(c *api.Config) {
			c.Clusters["c"].Server = "https://changed"
			c.AuthInfos["u"].Token = "changed"
			c.Contexts["other"].Namespace = "changed"
		},
		"remove": func(c *api.Config) {
			delete(c.Contexts, "other")
			delete(c.Clusters, "c")
			delete(c.AuthInfos, "u")
		},
		"preferences": func(c *api.Config) { c.Preferences.Colors = true },
	} {
		for _, relative := range []bool{false, true} {
			a, b := write("n/a/config", documents["two"]), write("n/b/config", documents["full"])
			rules := &clientcmd.ClientConfigLoadingRules{Precedence: []string{a, b}}
			starting, err := rules.GetStartingConfig()
			if err != nil {
				panic(err)
			}
			change(starting)
			err = clientcmd.ModifyConfig(rules, *starting, relative)
			printLine("modify %s %t: %s", name, relative, describe(err))
			for _, file := range []string{a, b} {
				content, _ := os.ReadFile(file)
				_, locked := os.Stat(file + ".lock")
				printLine("modify %s %t, %s: %s, locked %t", name, relative, file, content, locked == nil)
			}
		}
	}
	file := write("n/single", documents["provider"])
	persister := clientcmd.PersisterForUser(&clientcmd.ClientConfigLoadingRules{ExplicitPath: file}, "u")
	printLine("persist: %s", describe(persister.Persist(map[string]string{"k": "new"})))
	content, _ := os.ReadFile(file)
	printLine("persisted: %s", content)
	fresh := filepath.Join(dir, "fresh/folder/config")
	printLine("fresh: %s", describe(clientcmd.WriteToFile(*api.NewConfig(), fresh)))
	info, err := os.Stat(fresh)
	printLine("fresh mode: %v %v", info.Mode(), err)
}

func parse() {
	for _, args := range [][]string{
		{"--server=https://s", "--cluster=c", "--user=u", "--context=x", "-n", "ns/abc", "--token=t", "--as=a", "--as-group=g", "--as-group=h,i", "--as-uid=1"},
		{"--insecure-skip-tls-verify", "--tls-server-name=n", "--certificate-authority=ca", "--client-certificate=crt", "--client-key=key"},
		{"--username=u", "--password=p", "--request-timeout=5", "--proxy-url=http://p", "--disable-compression"},
		{"--namespace=namespaces/x"}, {"--namespace", "namespace/y"}, {"--insecure-skip-tls-verify=maybe"}, {"--none"},
	} {
		var o clientcmd.ConfigOverrides
		flags := pflag.NewFlagSet("try", pflag.ContinueOnError)
		flags.SetOutput(io.Discard)
		clientcmd.BindOverrideFlags(&o, flags, clientcmd.RecommendedConfigOverrideFlags(""))
		err := flags.Parse(args)
		printLine("flags %q: %s %s", args, inJSON(o), describe(err))
	}
	flags := pflag.NewFlagSet("try", pflag.ContinueOnError)
	clientcmd.BindOverrideFlags(&clientcmd.ConfigOverrides{}, flags, clientcmd.RecommendedConfigOverrideFlags("p-"))
	flags.VisitAll(func(f *pflag.Flag) {
		printLine("flag %s %q %q %q %v", f.Name, f.Shorthand, f.DefValue, f.Value.Type(), f.Annotations)
	})
	for _, timeout := range []string{"", "0", "5", "5s", "2m", "-1", "-1s", "x", "1.5h"} {
		d, err := clientcmd.ParseTimeout(timeout)
		printLine("timeout %q: %v %s", timeout, d, describe(err))
	}
}

func paths() {
	for _, p := range [][2]string{{"/a/b/c", "/a"}, {"/a/b", "/a/b/c"}, {"", "/a"}, {"rel", "/a"}, {"/a", "rel"}} {
		relative, err := clientcmd.MakeRelative(p[0], p[1])
		printLine("relative %q: %q %t", p, relative, err == nil)
		one, two := p[0], p[0]
		err = clientcmd.RelativizePathWithNoBacksteps([]*string{&one}, p[1])
		printLine("no backsteps %q: %q %t", p, one, err == nil)
		err = clientcmd.ResolvePaths([]*string{&two}, p[1])
		printLine("resolve %q: %q %t", p, two, err == nil)
	}
	cluster := &api.Cluster{LocationOfOrigin: "/x/config", CertificateAuthority: "/x/y/ca"}
	err := clientcmd.RelativizeClusterLocalPaths(cluster)
	printLine("cluster: %s %t", inJSON(cluster), err == nil)
	cluster = &api.Cluster{CertificateAuthority: "ca"}
	err = clientcmd.RelativizeClusterLocalPaths(cluster)
	printLine("cluster from nowhere: %s %t", inJSON(cluster), err == nil)
	user := &api.AuthInfo{LocationOfOrigin: "/x/config", ClientKey: "key", TokenFile: "/y/token", Exec: &api.ExecConfig{Command: "./bin/c"}}
	err = clientcmd.RelativizeAuthInfoLocalPaths(user)
	printLine("user: %s %t", inJSON(user), err == nil)
}

func prompt() {
	config, err := clientcmd.Load([]byte(documents["anonymous"]))
	if err != nil {
		panic(err)
	}
	interactive := clientcmd.NewInteractiveClientConfig(*config, "", &clientcmd.ConfigOverrides{}, strings.NewReader("me\nsecret\n"), nil)
	c, err := interactive.ClientConfig()
	printLine("\nprompt: %s %s", describeREST(c), describe(err))
}
