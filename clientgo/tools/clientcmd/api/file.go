package api

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
)

const redacted = "REDACTED"

// omitted replaces data in output. JSON encodes bytes in base64, and the encoded form of omitted is
// DATA+OMITTED.
var omitted, _ = base64.StdEncoding.DecodeString("DATA+OMITTED") // the decoded bytes

// IsConfigEmpty reports whether a Config has no entries, no current context and no extensions.
func IsConfigEmpty(config *Config) bool {
	return len(config.AuthInfos) == 0 && len(config.Clusters) == 0 && len(config.Contexts) == 0 && config.CurrentContext == "" &&
		!config.Preferences.Colors && len(config.Preferences.Extensions) == 0 && len(config.Extensions) == 0
}

// MinifyConfig removes everything from a Config that the current context does not use. On an error
// it changes nothing.
func MinifyConfig(config *Config) error {
	if config.CurrentContext == "" {
		return errors.New("current-context must exist in order to minify")
	}
	current, ok := config.Contexts[config.CurrentContext]
	if !ok {
		return fmt.Errorf("cannot locate context %v", config.CurrentContext)
	}
	clusters, err := only("cluster", config.Clusters, current.Cluster)
	if err != nil {
		return err
	}
	users, err := only("user", config.AuthInfos, current.AuthInfo)
	if err != nil {
		return err
	}
	config.Contexts = map[string]*Context{config.CurrentContext: current}
	config.Clusters, config.AuthInfos = clusters, users
	return nil
}

// only returns a map that has only the entry with this name. For an empty name it returns an empty
// map.
func only[V any](what string, all map[string]V, name string) (map[string]V, error) {
	if name == "" {
		return map[string]V{}, nil
	}
	v, ok := all[name]
	if !ok {
		return nil, fmt.Errorf("cannot locate %s %v", what, name)
	}
	return map[string]V{name: v}, nil
}

// ShortenConfig replaces data and tokens with short words, so that a Config can be shown to a user.
func ShortenConfig(config *Config) {
	for _, user := range config.AuthInfos {
		shorten(&user.ClientCertificateData)
		shorten(&user.ClientKeyData)
		if user.Token != "" {
			user.Token = redacted
		}
	}
	for _, cluster := range config.Clusters {
		shorten(&cluster.CertificateAuthorityData)
	}
}

func shorten(data *[]byte) {
	if len(*data) > 0 {
		*data = omitted
	}
}

// FlattenConfig replaces file paths with the files' content, so that a Config is self-contained.
func FlattenConfig(config *Config) error {
	var files []embeddable
	for _, u := range config.AuthInfos {
		files = append(files, embeddable{u.LocationOfOrigin, &u.ClientCertificate, &u.ClientCertificateData}, embeddable{u.LocationOfOrigin, &u.ClientKey, &u.ClientKeyData})
	}
	for _, c := range config.Clusters {
		files = append(files, embeddable{c.LocationOfOrigin, &c.CertificateAuthority, &c.CertificateAuthorityData})
	}
	for _, f := range files {
		base, err := MakeAbs(filepath.Dir(f.origin), "")
		if err == nil {
			err = FlattenContent(f.path, f.contents, base)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// embeddable is a path, relative to the folder of the file origin. The field contents points to the
// variable that receives the content of the file at that path.
type embeddable struct {
	origin   string
	path     *string
	contents *[]byte
}

// FlattenContent reads the file at path, relative to baseDir, into contents, and clears path. It
// returns an error if contents is not empty. An empty path is ignored.
func FlattenContent(path *string, contents *[]byte, baseDir string) error {
	if *path == "" {
		return nil
	}
	if len(*contents) > 0 {
		return errors.New("cannot have values for both path and contents")
	}
	data, err := os.ReadFile(ResolvePath(*path, baseDir))
	if err != nil {
		return err
	}
	*path, *contents = "", data
	return nil
}

// ResolvePath joins base and path. It returns absolute and empty paths unchanged.
func ResolvePath(path string, base string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// MakeAbs returns the absolute form of a path that is relative to base. An empty base means the
// current folder.
func MakeAbs(path, base string) (string, error) {
	if base == "" && !filepath.IsAbs(path) {
		return filepath.Abs(path)
	}
	if filepath.IsAbs(path) {
		return path, nil
	}
	return filepath.Join(base, path), nil
}

// RedactSecrets replaces tokens, passwords and keys with a placeholder. It does so in each field
// with a datapolicy tag.
func RedactSecrets(config *Config) error {
	redact(reflect.ValueOf(config))
	return nil
}

func redact(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		redact(v.Elem())
	case reflect.Map:
		for _, entry := range v.Seq2() {
			redact(entry)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Field(i)
			switch {
			case v.Type().Field(i).Tag.Get("datapolicy") == "":
				redact(field)
			case field.Kind() == reflect.String && field.String() != "":
				field.SetString(redacted)
			case field.Kind() == reflect.Slice && !field.IsNil():
				field.SetBytes([]byte(redacted))
			}
		}
	}
}
