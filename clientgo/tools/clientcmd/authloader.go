package clientcmd

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
	clientauth "k8s.io/client-go/tools/auth"
)

// AuthLoader loads the credentials of one user from a file.
type AuthLoader interface {
	// LoadAuth loads the credentials in the file at path.
	LoadAuth(path string) (*clientauth.Info, error)
}

// NewDefaultAuthLoader returns a loader that reads files and never prompts.
func NewDefaultAuthLoader() AuthLoader { return fileLoader{} }

type fileLoader struct{}

// LoadAuth implements AuthLoader.
func (fileLoader) LoadAuth(path string) (*clientauth.Info, error) {
	return clientauth.LoadFromFile(path)
}

// PromptingAuthLoader prompts the user if the file is missing, and writes the user's input to the
// file.
type PromptingAuthLoader struct {
	reader io.Reader
}

// NewPromptingAuthLoader returns a loader that reads the user's input from reader.
func NewPromptingAuthLoader(reader io.Reader) *PromptingAuthLoader {
	return &PromptingAuthLoader{reader: reader}
}

// LoadAuth implements AuthLoader.
func (a *PromptingAuthLoader) LoadAuth(path string) (*clientauth.Info, error) {
	info, err := clientauth.LoadFromFile(path)
	if !os.IsNotExist(err) {
		return info, err
	}
	if info, err = a.Prompt(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(info)
	if err != nil {
		return info, err
	}
	return info, os.WriteFile(path, data, 0o600)
}

// Prompt asks for a username and a password. A terminal does not show the password while it is
// typed.
func (a *PromptingAuthLoader) Prompt() (*clientauth.Info, error) {
	user, err := a.ask("Username", false)
	if err != nil {
		return nil, err
	}
	password, err := a.ask("Password", true)
	if err != nil {
		return nil, err
	}
	return &clientauth.Info{User: user, Password: password}, nil
}

func (a *PromptingAuthLoader) ask(what string, secret bool) (input string, err error) {
	fmt.Printf("Please enter %s: ", what)
	if secret {
		// Read from the terminal itself, even if the program's reader reads from it too. Otherwise
		// the terminal would show the password.
		from := []*os.File{os.Stdin}
		if file, ok := a.reader.(*os.File); ok {
			from = []*os.File{file, os.Stdin}
		}
		for _, file := range from {
			if term.IsTerminal(int(file.Fd())) {
				typed, err := term.ReadPassword(int(file.Fd()))
				fmt.Println()
				return string(typed), err
			}
		}
	}
	_, err = fmt.Fscan(a.reader, &input)
	return input, err
}
