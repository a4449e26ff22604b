// Command try calls all generated code. This is each method of each typed client and of each fake,
// each function and method of the apply configurations, and each informer and lister. It prints the
// requests that a server receives, and the results. It is built twice: with client-go and with
// clientgo. A line without a tab names a case. The lines after it are the results of the case.
package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
)

var (
	ctx = context.Background()
	out = bufio.NewWriterSize(os.Stdout, 1<<20)
)

var (
	whole   = flag.Bool("whole", false, "print long lines whole")
	clients = flag.Bool("clients", false, "call the clients alone")
)

func main() {
	flag.Parse()
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	klog.SetOutput(io.Discard)
	defer func() { _ = out.Flush() }()
	tryTyped()
	tryUntyped()
	if !*clients {
		tryFakes()
		tryInformers()
		tryApplies()
	}
}

// block prints the name of a case and runs it. A panic is a part of the case's result.
func block(name string, fn func()) {
	fmt.Fprintln(out, name)
	defer func() {
		if r := recover(); r != nil {
			line("panic", r)
		}
	}()
	fn()
}

// line prints a result in one line. If it is long, it prints the beginning and a checksum.
func line(parts ...any) {
	text := strings.ReplaceAll(strings.TrimSpace(fmt.Sprintln(parts...)), "\n", " | ")
	text = now.ReplaceAllString(address.ReplaceAllString(text, "ADDRESS"), `"time":"NOW"`)
	if len(text) > 1000 && !*whole {
		text = fmt.Sprintf("%.900q... %x", text, sha256.Sum256([]byte(text)))
	}
	fmt.Fprintln(out, "\t"+text)
}

// Matches of the parts of a result that differ between runs: addresses, and the times of managed
// fields.
var (
	address = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	now     = regexp.MustCompile(`"time":"20[^"]+"`)
)

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// kindOf returns the properties of an error, other than its text, that programs test for.
func kindOf(err error) string {
	if err == nil {
		return "no error"
	}
	kind := fmt.Sprintf("%T", err)
	if strings.HasPrefix(kind, "*errors.errorString") || strings.HasPrefix(kind, "*fmt.") {
		kind = "error"
	}
	if status, ok := err.(apierrors.APIStatus); ok {
		kind += " " + text(status.Status())
	}
	return kind + " " + err.Error()
}
