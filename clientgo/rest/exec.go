package rest

import (
	"errors"

	"k8s.io/client-go/transport"
)

// execCredentials refuses a Config with a command that prints credentials: it would otherwise come to the server without any.
func (c *Config) execCredentials(*transport.Config) error {
	return errors.New("rest: Config.ExecProvider is not supported yet: use a token, a token file or a client certificate")
}
