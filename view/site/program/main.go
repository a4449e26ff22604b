//go:build js && wasm

// Program is the laboratory inside a browser tab: compiled to WebAssembly, and run by worker.js in
// a worker thread.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/view/lab"
)

func main() {
	debug.SetMemoryLimit(memoryLimit)
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "kinform:", err)
		os.Exit(1)
	}
}

// run runs the laboratory until ctx ends. The page connects before the pods are created, so it
// shows their creation.
func run(ctx context.Context) error {
	l, err := lab.New(lab.Options{Window: window, View: view.Options{Title: "kinform in this tab", IndexValues: true}})
	if err != nil {
		return err
	}
	(&page{handler: l.View(), token: l.View().Token()}).listen()
	return l.Run(ctx)
}
