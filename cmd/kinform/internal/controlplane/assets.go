// Package controlplane lets the command replace the control plane programs of controller-runtime's
// envtest: kube-apiserver, etcd and kubectl.
package controlplane

import (
	"cmp"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Command returns "kinform envtest-assets".
func Command() *cobra.Command {
	return &cobra.Command{
		Use:   "envtest-assets DIR",
		Short: "Write kube-apiserver, etcd and kubectl for envtest of controller-runtime",
		Long: `envtest-assets writes kube-apiserver, etcd and kubectl to a folder, and creates the folder if needed.
Each file is a copy of this command; the name of the file selects the program. envtest of
controller-runtime finds the files by the environment variable KUBEBUILDER_ASSETS. The tests of a
project that kubebuilder has generated run unchanged.

kube-apiserver is the server of "kinform apiserver", from memory. It has no admission (so it calls no
webhook), no CEL and no RBAC: a client with a certificate may do everything. etcd only reports that it
is healthy. kubectl only prints that it is not a real kubectl.`,
		Example: `  kinform envtest-assets ~/.kinform/envtest
  KUBEBUILDER_ASSETS=~/.kinform/envtest go test ./...
  KUBEBUILDER_ASSETS=~/.kinform/envtest ENVTEST_USE_ENV=true make test`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := write(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), `Wrote kube-apiserver, etcd and kubectl to %[1]s.
Try: KUBEBUILDER_ASSETS=%[1]s go test ./...
In a project of kubebuilder: KUBEBUILDER_ASSETS=%[1]s ENVTEST_USE_ENV=true make test
`, dir)
			return err
		},
	}
}

// write writes the programs to a folder, and returns the folder's absolute path. The path is
// absolute, because envtest starts the programs from the folder of each package.
func write(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("making the folder of the programs: %w", err)
	}
	for name := range programs {
		if err := replaceable(filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	// A copy is necessary, because "go run" removes this program when it ends.
	temp, err := copyTo(dir, self)
	if err != nil {
		return "", fmt.Errorf("copying this program: %w", err)
	}
	defer os.Remove(temp)
	for name := range programs {
		if err := install(temp, filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return dir, nil
}

// replaceable returns nil if the path is free, or if this command wrote the file there. The file
// may be a real program from setup-envtest, which must stay.
func replaceable(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	own, ok := debug.ReadBuildInfo()
	if found, err := buildinfo.ReadFile(path); ok && err == nil && found.Path == own.Path {
		return nil
	}
	return fmt.Errorf("%s exists and is not from this command: remove it, or name another folder", path)
}

// copyTo copies a program to a new file in a folder, and returns its path.
func copyTo(dir, program string) (path string, err error) {
	from, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer from.Close()
	to, err := os.CreateTemp(dir, ".kinform-*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, from)
	if err = cmp.Or(err, to.Chmod(0o755), to.Close()); err != nil {
		return "", errors.Join(err, os.Remove(to.Name()))
	}
	return to.Name(), nil
}

// install puts a program at a path atomically, because the old program may be running from there.
// It uses a hard link, which takes no space. If the file system has no hard links, it makes a copy.
func install(program, path string) error {
	link := program + "-" + filepath.Base(path)
	if os.Link(program, link) != nil {
		var err error
		if link, err = copyTo(filepath.Dir(path), program); err != nil {
			return err
		}
	}
	if err := os.Rename(link, path); err != nil {
		return errors.Join(err, os.Remove(link))
	}
	return nil
}
