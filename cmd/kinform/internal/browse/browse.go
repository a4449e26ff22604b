// Package browse shows a page to the user: it prints the address and opens a browser.
package browse

import (
	"fmt"
	"log"
	"os/exec"
	"runtime"

	"github.com/kinform/kinform/view"
)

// Instructions returns a text for the user: the address of the page, and the token if the page
// needs it.
func Instructions(v *view.View, url string) string {
	if !v.Guarded() {
		return url
	}
	return fmt.Sprintf("%s\nThe address works for one browser, within five minutes. After that, and in other browsers,\nthe page asks for its token: %s", v.Address(url), v.Token())
}

// Open opens a page in a browser and does not wait for it. If no browser starts, Open returns an
// error or logs the failure. Every user of the machine can read a command line, so the address in
// it has a one-time code. If the browser fails to start, the code is withdrawn.
func Open(v *view.View, url string) error {
	url = v.Address(url)
	command := []string{"xdg-open", url}
	switch runtime.GOOS {
	case "darwin":
		command[0] = "open"
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	}
	started := exec.Command(command[0], command[1:]...)
	if err := started.Start(); err != nil {
		v.Withdraw(url)
		return fmt.Errorf("cannot open a browser: %w: leave --open out, and open the printed address yourself", err)
	}
	go func() { // The browser command may end only when the browser ends.
		if err := started.Wait(); err != nil {
			v.Withdraw(url)
			log.Printf("--open: %s has opened no browser (%v): open the printed address yourself", command[0], err)
		}
	}()
	return nil
}
