// Package auth reads a JSON file with the credentials of one user. Kubeconfig files have replaced
// this format.
package auth

import (
	"encoding/json"
	"fmt"
	"os"

	restclient "k8s.io/client-go/rest"
)

// Info is the content of the file. The names of the fields are the file's, in any case.
type Info struct {
	User        string
	Password    string `datapolicy:"password"`
	CAFile      string
	CertFile    string
	KeyFile     string
	BearerToken string `datapolicy:"token"`
	Insecure    *bool
}

// LoadFromFile reads a file. For a missing file, os.IsNotExist is true for the error.
func LoadFromFile(path string) (*Info, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var info Info
	if err := json.Unmarshal(data, &info); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &info, nil
}

// Complete reports whether there are credentials: a user, a certificate or a token.
func (info Info) Complete() bool {
	return info.User != "" || info.CertFile != "" || info.BearerToken != ""
}

// MergeWithConfig returns c with info's fields, including empty ones, in place of its own. Only
// Insecure keeps its value if info does not set it.
func (info Info) MergeWithConfig(c restclient.Config) (restclient.Config, error) {
	c.Username, c.Password, c.BearerToken = info.User, info.Password, info.BearerToken
	c.CAFile, c.CertFile, c.KeyFile = info.CAFile, info.CertFile, info.KeyFile
	if info.Insecure != nil {
		c.Insecure = *info.Insecure
	}
	return c, nil
}
