//go:build js

package top

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/kinform/kinform/view"
)

var errNoTerminal = errors.New("there is no terminal in a browser: --once prints one frame as text")

func runTerminal(context.Context, *page, view.Pipelines, io.Reader, *os.File) error {
	return errNoTerminal
}

func checkTerminal(io.Reader, *os.File) error { return errNoTerminal }
