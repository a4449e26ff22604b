// Package auth reads a file with the credentials of one user, in JSON. Kubeconfig files have taken its place.
package auth

import (
	"encoding/json"
	"fmt"
	"os"

	restclient "k8s.io/client-go/rest"
)

// Info is what the file has. The names of fields are those of the file, in any case.
type Info struct {
	User        string
	Password    string `datapolicy:"password"`
	CAFile      string
	CertFile    string
	KeyFile     string
	BearerToken string `datapolicy:"token"`
	Insecure    *bool
}

// LoadFromFile reads a file. If there is none, os.IsNotExist tells so.
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

// Complete says whether there are credentials: a user, a certificate or a token.
func (info Info) Complete() bool {
	return info.User != "" || info.CertFile != "" || info.BearerToken != ""
}

// MergeWithConfig returns c with all of info's fields in place of its own, the empty ones too. Only Insecure stays as it is if it is not set.
func (info Info) MergeWithConfig(c restclient.Config) (restclient.Config, error) {
	c.Username, c.Password, c.BearerToken = info.User, info.Password, info.BearerToken
	c.CAFile, c.CertFile, c.KeyFile = info.CAFile, info.CertFile, info.KeyFile
	if info.Insecure != nil {
		c.Insecure = *info.Insecure
	}
	return c, nil
}
