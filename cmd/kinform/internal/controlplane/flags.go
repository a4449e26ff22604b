package controlplane

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// The flags of the real programs (Kubernetes 1.36, etcd 3.6) that are accepted and ignored, one per
// line. "bool" marks a flag that needs no value.
var (
	//go:embed kube-apiserver.flags
	kubeAPIServerFlags string
	//go:embed etcd.flags
	etcdFlags string
)

// parseFlags parses the flags of a program. The flags in used take effect. The string unused names
// the other flags of the real program. They are ignored, and listed in one line of errOut. Any
// other flag is an error, as in the real program. If printed is true, the arguments asked for help
// or the version, and parseFlags has printed it.
func parseFlags(program string, used *pflag.FlagSet, unused string, args []string, out, errOut io.Writer) (printed bool, err error) {
	all := pflag.NewFlagSet(program, pflag.ContinueOnError)
	all.SortFlags = false
	all.Usage = func() {}
	all.AddFlagSet(used)
	version := all.Bool("version", false, "print the version and exit")
	for line := range strings.Lines(unused) {
		name, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind == "bool" {
			all.Bool(name, false, "not used")
		} else {
			all.String(name, "", "not used")
		}
	}
	switch err := all.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprintf(out, "%s of kinform serves envtest of controller-runtime, from memory.\n\nFlags:\n%s", program, all.FlagUsages())
		return true, nil
	case err != nil:
		return false, fmt.Errorf("%w: %s --help lists the flags", err, program)
	case *version:
		fmt.Fprintln(out, program, "of kinform")
		return true, nil
	case all.NArg() > 0:
		return false, fmt.Errorf("%s takes no arguments, got %q", program, all.Args())
	}
	var ignored []string
	all.Visit(func(f *pflag.Flag) {
		if used.Lookup(f.Name) == nil {
			ignored = append(ignored, "--"+f.Name)
		}
	})
	if slices.Sort(ignored); len(ignored) > 0 {
		fmt.Fprintf(errOut, "%s: kinform ignores %s\n", program, strings.Join(ignored, " "))
	}
	return false, nil
}
