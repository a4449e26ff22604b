package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const cyclonedx = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"

// install installs the command by its version, into a folder that has its own module cache. If
// clean is set, the folder has its own build cache too, and everything is compiled.
func (w *releaseClone) install(ctx context.Context, folder string, clean bool) (binary string, err error) {
	dir := filepath.Join(w.dir, folder)
	// Without cgo, because C compilers differ.
	env := append(w.env, "GOBIN="+dir, "GOMODCACHE="+filepath.Join(dir, "modules"), "CGO_ENABLED=0")
	if clean {
		env = append(env, "GOCACHE="+filepath.Join(dir, "cache"))
	}
	version := w.version("cmd/kinform")
	if _, err := output(ctx, w.dir, env, "go", "install", kinform+"/cmd/kinform@"+version); err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "kinform")
	said, err := output(ctx, dir, nil, binary, "--version")
	if err == nil && !strings.HasPrefix(said, "kinform "+version+",") {
		err = fmt.Errorf("go install of kinform %s installs %q", version, said)
	}
	return binary, err
}

// checkReproducible builds the command once more, without any cache. Both must have the same bytes.
// It writes the command and its SBOM, the list of its modules, into bin/release.
func (w *releaseClone) checkReproducible(ctx context.Context, first string) error {
	second, err := w.install(ctx, "second", true)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(first)
	if err != nil {
		return err
	}
	again, err := os.ReadFile(second)
	if err != nil {
		return err
	}
	if !bytes.Equal(text, again) {
		return fmt.Errorf("the command differs between two builds: its SHA-256 is %x and %x", sha256.Sum256(text), sha256.Sum256(again))
	}
	fmt.Printf("Two builds of the command are equal. SHA-256: %x\n", sha256.Sum256(text))
	binary := filepath.Join(w.root, "bin", "release", "kinform")
	if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(binary, text, 0o755); err != nil {
		return err
	}
	fmt.Printf("SBOM: %s.cdx.json\n", binary)
	_, err = output(ctx, w.dir, nil, "go", "run", cyclonedx, "bin", "-json", "-std", "-output", binary+".cdx.json", binary)
	return err
}
