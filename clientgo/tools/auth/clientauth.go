// Package auth reads a JSON file with the credentials of one user. Kubeconfig files have replaced
// this format.
package auth

import (
	"encoding/json"
	"fmt"
	"os"

	restclient "k8s.io/client-go/rest"
)

// Info is the content of the file. The file uses the names of the fields, in upper or lower case.
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

// MergeWithConfig returns a copy of c in which the fields of info replace the same fields of c,
// even if they are empty. Only Insecure keeps the value of c if info does not set it.
func (info Info) MergeWithConfig(c restclient.Config) (restclient.Config, error) {
	c.Username, c.Password, c.BearerToken = info.User, info.Password, info.BearerToken
	c.CAFile, c.CertFile, c.KeyFile = info.CAFile, info.CertFile, info.KeyFile
	if info.Insecure != nil {
		c.Insecure = *info.Insecure
	}
	return c, nil
}
