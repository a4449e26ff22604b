package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed worker.js
var worker []byte

// Import paths of the program, and of the package with the page.
const (
	program = "github.com/kinform/kinform/view/site/program"
	view    = "github.com/kinform/kinform/view"
)

// file is a file of the folder.
type file struct {
	name string
	body []byte
}

// build compiles the program and returns the files of the folder. It needs the go command and the
// packages of this module.
func build(dir string) ([]file, error) {
	code, err := compile()
	if err != nil {
		return nil, err
	}
	packed, err := compress(code)
	if err != nil {
		return nil, err
	}
	// The hash in the name prevents a cache from combining a page with the program of another
	// version.
	name := fmt.Sprintf("kinform-%x.wasm.gz", sha256.Sum256(packed))[:len("kinform-")+8] + ".wasm.gz"
	files := []file{{name, packed}, {"worker.js", worker}}

	// The file that runs the program differs between versions of Go. So it must come from the
	// version that compiles the program.
	goroot, err := goCommand(nil, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	runner, err := os.ReadFile(filepath.Join(strings.TrimSpace(goroot), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, err
	}
	files = append(files, file{"wasm_exec.js", runner})

	page, err := pageFiles(name, len(packed))
	if err != nil {
		return nil, err
	}
	files = append(files, page...)
	return files, write(dir, files)
}

// compile compiles the program for the browser.
func compile() ([]byte, error) {
	dir, err := os.MkdirTemp("", "kinform-site")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	out := filepath.Join(dir, "program.wasm")
	if _, err := goCommand([]string{"GOOS=js", "GOARCH=wasm"}, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out, program); err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

// compress compresses the program. The worker decompresses it, so the host needs no support for
// that.
func compress(code []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(code); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// policy is the page's policy for browsers: the policy of package view, and the permission for a
// worker to compile the program. It is in the head of the page, because a static host sends no
// policy.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types kinform"

// pageFiles returns the files of the page, with the location of the program filled in.
func pageFiles(program string, size int) ([]file, error) {
	dir, err := goCommand(nil, "list", "-f", "{{.Dir}}", view)
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(strings.TrimSpace(dir), "page")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		body, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if e.Name() == "index.html" {
			const after = "<meta charset=\"utf-8\">\n"
			head := fmt.Sprintf(`%s<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="referrer" content="no-referrer">
<meta name="kinform-program" content="%s" data-bytes="%d">
<script type="module" src="tab.js" async></script>
`, after, policy, program, size)
			with := bytes.Replace(body, []byte(after), []byte(head), 1)
			if bytes.Equal(with, body) {
				return nil, fmt.Errorf("index.html has no line %q, after which the build inserts the program's name", after)
			}
			body = with
		}
		files = append(files, file{e.Name(), body})
	}
	return files, nil
}

// write writes the files, and removes programs of earlier builds.
func write(dir string, files []file) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "kinform-*.wasm.gz"))
	if err != nil {
		return err
	}
	for _, name := range old {
		err = errors.Join(err, os.Remove(name))
	}
	for _, f := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, f.name), f.body, 0o644))
	}
	return err
}

// goCommand runs the go command and returns its output.
func goCommand(env []string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}
