package kubeconfig

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kinform/kinform/rest"
)

// Marshal returns a kubeconfig with one cluster, one user and one context, which
// is the current one. All are named c.Context, or "default" where that is empty.
//
// Proxy, DialContext, the user agent and time limits have no place in the file
// and are left out. Credentials, which also have none, are an error: without them
// the file would be somebody else's. Paths become absolute, for they would otherwise depend on
// where the file is. The result holds whatever secrets c.Config holds.
func Marshal(c Connection) ([]byte, error) {
	if c.Config.Host == "" {
		return nil, errors.New("a kubeconfig needs a server: set Config.Host")
	}
	if c.Config.Credentials != nil {
		return nil, errors.New("a kubeconfig cannot hold Config.Credentials, such as those of an exec plugin: write the plugin down by hand, or use a token")
	}
	cfg, tls := c.Config, c.Config.TLS
	if !strings.Contains(cfg.Host, "://") {
		cfg.Host = "https://" + cfg.Host // as rest.Config has it; a kubeconfig may mean http
	}
	files := []*string{&tls.CAFile, &tls.CertFile, &tls.KeyFile, &cfg.BearerTokenFile}
	for _, file := range files {
		if *file == "" {
			continue
		}
		abs, err := filepath.Abs(*file)
		if err != nil {
			return nil, err
		}
		*file = abs
	}

	name := cmp.Or(c.Context, "default")
	return yaml.Marshal(document{
		APIVersion:     "v1",
		Kind:           "Config",
		CurrentContext: name,
		Clusters: []clusterEntry{{Name: name, Cluster: cluster{
			Server:                   cfg.Host,
			TLSServerName:            tls.ServerName,
			InsecureSkipTLSVerify:    tls.Insecure,
			DisableCompression:       cfg.Compression == rest.CompressNothing,
			CertificateAuthority:     tls.CAFile,
			CertificateAuthorityData: base64.StdEncoding.EncodeToString(tls.CAData),
		}}},
		Contexts: []contextEntry{{Name: name, Context: contextContent{
			Cluster: name, User: name, Namespace: c.Namespace,
		}}},
		Users: []userEntry{{Name: name, User: user{
			ClientCertificate:     tls.CertFile,
			ClientCertificateData: base64.StdEncoding.EncodeToString(tls.CertData),
			ClientKey:             tls.KeyFile,
			ClientKeyData:         base64.StdEncoding.EncodeToString([]byte(tls.KeyData.Reveal())),
			Token:                 cfg.BearerToken.Reveal(),
			TokenFile:             cfg.BearerTokenFile,
			Username:              cfg.Username,
			Password:              cfg.Password.Reveal(),
			As:                    cfg.Impersonate.User,
			AsUID:                 cfg.Impersonate.UID,
			AsGroups:              cfg.Impersonate.Groups,
			AsUserExtra:           cfg.Impersonate.Extra,
		}}},
	})
}

// Write saves what [Marshal] returns at path, readable by its owner only (mode
// 0600). Whoever reads path meanwhile sees the old file or the new one whole,
// and after an error the old one is untouched. The folder must exist. If path is
// a symbolic link, it stays one, and the file that it leads to is replaced.
func Write(path string, c Connection) error {
	data, err := Marshal(c)
	if err != nil {
		return err
	}
	if err := replaceFile(path, data); err != nil {
		return fmt.Errorf("kubeconfig %q cannot be written: %w: check that its folder exists and is writable", path, err)
	}
	return nil
}

// replaceFile writes beside the file and renames, which is atomic.
func replaceFile(path string, data []byte) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".kubeconfig-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
