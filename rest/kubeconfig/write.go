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

// Marshal returns a kubeconfig with one cluster, one user and one context, which is the current
// context. All three are named c.Context, or "default" if c.Context is empty.
//
// A kubeconfig has no fields for Proxy, DialContext, the user agent and time limits, so Marshal
// leaves these out. It has no field for Credentials either. A Config with Credentials is an error,
// because a client without the Credentials would be another user. Paths become absolute, because
// relative paths would depend on the folder of the file. The result contains the secrets of
// c.Config.
func Marshal(c Connection) ([]byte, error) {
	if c.Config.Host == "" {
		return nil, errors.New("a kubeconfig needs a server: set Config.Host")
	}
	if c.Config.Credentials != nil {
		return nil, errors.New("a kubeconfig cannot hold Config.Credentials, such as the function of an exec plugin: add the plugin to the file by hand, or use a token")
	}
	cfg, tls := c.Config, c.Config.TLS
	if !strings.Contains(cfg.Host, "://") {
		// rest.Config defaults to https, but a kubeconfig may default to http
		cfg.Host = "https://" + cfg.Host
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

// Write saves the result of [Marshal] at path, readable by its owner only (mode 0600). A reader
// sees either the old file or the whole new file. After an error, the old file is unchanged. The
// folder must exist. If path is a symbolic link, Write replaces or creates its target, whose folder
// must exist as well, and keeps the link.
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

// replaceFile writes a new file in the folder of the old file, and renames it, which is atomic.
func replaceFile(path string, data []byte) (err error) {
	if path, err = resolveLinks(path); err != nil {
		return err
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

// maxLinks is the maximum length of a chain of symbolic links, as in Linux.
const maxLinks = 40

// resolveLinks returns the path of the file that path leads to through symbolic links. Unlike for
// filepath.EvalSymlinks, the file itself need not exist, only its folder.
func resolveLinks(path string) (string, error) {
	for range maxLinks {
		// Use Split, because Dir would apply ".." before following a link.
		folder, name := filepath.Split(path)
		folder, err := filepath.EvalSymlinks(cmp.Or(folder, "."))
		if err != nil {
			return "", err
		}
		path = filepath.Join(folder, name)
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil // path is not a link, or does not exist
		}
		if path = target; !filepath.IsAbs(target) {
			path = folder + string(filepath.Separator) + target
		}
	}
	return "", errors.New("too many symbolic links")
}
