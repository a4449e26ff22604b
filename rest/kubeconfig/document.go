package kubeconfig

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// document is one kubeconfig file. It has the fields of Kubernetes' clientcmd/api/v1.Config that
// this package uses or refuses.
type document struct {
	APIVersion     string         `json:"apiVersion,omitempty"`
	Kind           string         `json:"kind,omitempty"`
	CurrentContext string         `json:"current-context,omitempty"`
	Clusters       []clusterEntry `json:"clusters,omitempty"`
	Contexts       []contextEntry `json:"contexts,omitempty"`
	Users          []userEntry    `json:"users,omitempty"`
}

type clusterEntry struct {
	Name    string  `json:"name"`
	Cluster cluster `json:"cluster"`
}

type contextEntry struct {
	Name    string         `json:"name"`
	Context contextContent `json:"context"`
}

type userEntry struct {
	Name string `json:"name"`
	User user   `json:"user"`
}

// cluster has the address of a server and its CA bundle. Fields with the suffix Data have base64.
// Load decodes base64 only in the entry that it uses, so invalid base64 in another entry is not an
// error.
type cluster struct {
	Server                   string `json:"server,omitempty"`
	TLSServerName            string `json:"tls-server-name,omitempty"`
	InsecureSkipTLSVerify    bool   `json:"insecure-skip-tls-verify,omitempty"`
	CertificateAuthority     string `json:"certificate-authority,omitempty"`
	CertificateAuthorityData string `json:"certificate-authority-data,omitempty"`
	ProxyURL                 string `json:"proxy-url,omitempty"`
	DisableCompression       bool   `json:"disable-compression,omitempty"`

	Extensions []extension `json:"extensions,omitempty"`
}

// extension is data that another program has added for its own use.
type extension struct {
	Name      string          `json:"name"`
	Extension json.RawMessage `json:"extension"`
}

// contextContent joins a cluster, a user and a namespace.
type contextContent struct {
	Cluster   string `json:"cluster,omitempty"`
	User      string `json:"user,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

// user has credentials. Load refuses a user with an AuthProvider.
type user struct {
	ClientCertificate     string `json:"client-certificate,omitempty"`
	ClientCertificateData string `json:"client-certificate-data,omitempty"`
	ClientKey             string `json:"client-key,omitempty"`
	ClientKeyData         string `json:"client-key-data,omitempty"`
	Token                 string `json:"token,omitempty"`
	TokenFile             string `json:"tokenFile,omitempty"`
	Username              string `json:"username,omitempty"`
	Password              string `json:"password,omitempty"`

	Exec         *execPlugin         `json:"exec,omitempty"`
	AuthProvider *authProvider       `json:"auth-provider,omitempty"`
	As           string              `json:"as,omitempty"`
	AsUID        string              `json:"as-uid,omitempty"`
	AsGroups     []string            `json:"as-groups,omitempty"`
	AsUserExtra  map[string][]string `json:"as-user-extra,omitempty"`
}

// execPlugin is a command that prints credentials; see package execauth.
type execPlugin struct {
	Command            string        `json:"command"`
	Args               []string      `json:"args"`
	Env                []envVariable `json:"env"`
	APIVersion         string        `json:"apiVersion"`
	InstallHint        string        `json:"installHint"`
	ProvideClusterInfo bool          `json:"provideClusterInfo"`
	InteractiveMode    string        `json:"interactiveMode"`
}

type envVariable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// authProvider has the fields of an auth provider that an error shows.
type authProvider struct {
	Name string `json:"name"`
}

// parse parses the content of one file. An empty file is an empty document, as for kubectl. Errors
// quote only names, kind and apiVersion.
func parse(data []byte) (document, error) {
	doc, err := decode(data)
	if err != nil {
		return document{}, err
	}
	if (doc.Kind != "" && doc.Kind != "Config") || (doc.APIVersion != "" && doc.APIVersion != "v1") {
		return document{}, fmt.Errorf("the file holds kind %q of apiVersion %q, but a kubeconfig has kind Config of apiVersion v1: give the path of a kubeconfig",
			doc.Kind, doc.APIVersion)
	}
	return doc, doc.checkDuplicates()
}

// decode decodes YAML, of which JSON is a subset. As in all Kubernetes APIs, keys are
// case-sensitive, and decode ignores unknown keys. Errors never quote data.
func decode(data []byte) (document, error) {
	asJSON, err := yaml.YAMLToJSON(data)
	if err != nil {
		return document{}, syntaxError(err)
	}
	var doc document
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(asJSON, &doc); err != nil {
		return document{}, typeError(asJSON)
	}
	return doc, nil
}

// checkDuplicates returns an error, like kubectl, if a file has two entries of the same kind and
// name: either could be the intended one.
func (d *document) checkDuplicates() error {
	seen := make(map[[2]string]bool)
	check := func(list, name string) error {
		id := [2]string{list, name}
		if seen[id] {
			return fmt.Errorf("two %s are named %q: rename or remove one", list, name)
		}
		seen[id] = true
		return nil
	}
	var errs []error
	for _, e := range d.Clusters {
		errs = append(errs, check("clusters", e.Name))
	}
	for _, e := range d.Contexts {
		errs = append(errs, check("contexts", e.Name))
	}
	for _, e := range d.Users {
		errs = append(errs, check("users", e.Name))
	}
	return errors.Join(errs...)
}

var yamlLine = regexp.MustCompile(`^yaml: (line \d+):`)

// syntaxError returns an error with the line of bad YAML. It does not wrap the parser's
// error, whose text may quote a token or a password.
func syntaxError(err error) error {
	where := ""
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		where = " near " + m[1]
	}
	return fmt.Errorf("the file is not valid YAML%s: check the indentation and the quotes", where)
}

// typeError returns an error that names the field with the wrong type. It decodes with
// encoding/json, whose errors have the field and the type separate from the value.
func typeError(data []byte) error {
	var bad *json.UnmarshalTypeError
	if !errors.As(json.Unmarshal(data, new(document)), &bad) {
		return errors.New("a field has a value of the wrong type")
	}
	field := cmp.Or(bad.Field, "the document")
	actual, _, _ := strings.Cut(bad.Value, " ") // the value may follow the type
	wanted, advice := "mapping", "check the indentation"
	switch bad.Type.Kind() {
	case reflect.String:
		wanted, advice = "string", "put it in quotes"
	case reflect.Bool:
		wanted, advice = "bool", "write true or false, without quotes"
	case reflect.Slice:
		wanted, advice = "list", "begin each entry with a dash"
	}
	return fmt.Errorf("%s is of type %s instead of %s: %s", field, actual, wanted, advice)
}
