package execauth_test

import (
	"context"
	"fmt"

	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/execauth"
)

// The client gets its tokens from a command. In this example the command is missing, and the error
// contains the InstallHint.
func Example() {
	plugin, err := execauth.New("example-get-token", execauth.Options{
		Args:        rest.Secrets("--cluster", "prod"),
		InstallHint: "Get it from https://example.org.",
	})
	if err != nil {
		panic(err)
	}
	client, err := rest.NewClient(rest.Config{
		Host:        "https://prod.example.org",
		Credentials: plugin.Credential,
	}, rest.Options{})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	_, err = client.Raw(context.Background(), "GET", "/version", rest.RawOptions{})
	fmt.Println(err)
	// Output:
	// GET https://prod.example.org/version: credentials: exec plugin "example-get-token": exec: "example-get-token": executable file not found in $PATH: Get it from https://example.org.
}
