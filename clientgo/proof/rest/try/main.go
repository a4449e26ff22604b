// Command try sends requests with package rest to servers of many kinds, and prints what arrives and what comes back. It is built with
// each of the two modules. A line without a tab names a case; the lines after it are what became of it.
package main

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"k8s.io/klog/v2"

	"k8s.io/client-go/rest"
)

var out = bufio.NewWriter(os.Stdout)

// directory is where cases have their files.
var directory string

func main() {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"} {
		_ = os.Unsetenv(name)
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	var err error
	if directory, err = os.MkdirTemp("", "rest"); err != nil {
		panic(err)
	}
	countAll()
	tryPaths()
	tryQueries()
	tryHeaders()
	tryBodies()
	tryHooks()
	tryAnswers()
	tryLists()
	tryRetries()
	tryConnections()
	tryTimes()
	tryStreams()
	tryWatches()
	tryEvents()
	tryWarnings()
	tryBackoffs()
	tryClients()
	tryConfigs()
	tryCredentials()
	tryTransports()
	tryReflectors()
	tryLayers()
	tryLimits()
	tryPEMs()
	_ = out.Flush()
	_ = os.RemoveAll(directory)
}

// block begins a case. What panics in it is a part of what becomes of it.
func block(name string, fn func()) {
	fmt.Fprintln(out, oneLine(name))
	defer func() {
		if r := recover(); r != nil {
			line("panic")
		}
	}()
	forget()
	fn()
}

// line prints what became of something, in one line.
func line(parts ...any) { fmt.Fprintln(out, "\t"+oneLine(fmt.Sprintln(parts...))) }

// oneLine keeps what is no text out of the output.
func oneLine(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), directory, "DIR")
	var b strings.Builder
	for _, r := range s {
		if r == '\n' {
			b.WriteString(" | ")
		} else if r < ' ' || r == '\u00ad' || r == '\ufffd' {
			fmt.Fprintf(&b, "\\x%x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
