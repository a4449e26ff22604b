// Package browse opens addresses in the browser of the person who has started the command.
package browse

import (
	"fmt"
	"os/exec"
	"runtime"
)

// Open opens an address. It does not wait for the browser.
func Open(url string) error {
	command := []string{"xdg-open", url}
	switch runtime.GOOS {
	case "darwin":
		command[0] = "open"
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	}
	started := exec.Command(command[0], command[1:]...)
	if err := started.Start(); err != nil {
		return fmt.Errorf("cannot open a browser: %w: open %s yourself", err, url)
	}
	go func() { _ = started.Wait() }() // It ends at once, and whether it has found a browser can be seen.
	return nil
}
