// Command try sends requests with package rest to many kinds of servers. It prints the requests
// that arrive, and the results. It is built twice: with client-go and with clientgo. A line without
// a tab names a case. The lines after it are the results of the case.
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

// directory is the folder for the files of cases.
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
	tryResponses()
	tryLists()
	tryRetries()
	tryConnections()
	tryTimeouts()
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

// block prints the name of a case and runs it. A panic is a part of the case's result.
func block(name string, fn func()) {
	fmt.Fprintln(out, oneLine(name))
	defer func() {
		if r := recover(); r != nil {
			line("panic")
		}
	}()
	resetCounts()
	fn()
}

// line prints a result in one line.
func line(parts ...any) { fmt.Fprintln(out, "\t"+oneLine(fmt.Sprintln(parts...))) }

// oneLine replaces newlines and everything that is not text.
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
