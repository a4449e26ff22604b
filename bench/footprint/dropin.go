package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/kinform/kinform/bench/internal/progress"
	"github.com/kinform/kinform/bench/internal/report"
	"github.com/kinform/kinform/bench/internal/subprocess"
)

// withoutOpenAPI is a build tag for programs that use neither the OpenAPI v2 document nor the field
// managers of fake clients; see clientgo/README.md.
const withoutOpenAPI = "kinform_no_openapi"

// measureDropin measures programs without and with the replace directive for module clientgo.
func measureDropin(steps *progress.Progress, dir string, starts int, out io.Writer) error {
	file, err := modFile()
	if err != nil {
		return err
	}
	with := []string{"-modfile=" + file}
	for _, compared := range []struct {
		title, directory string
		ways             [][]string
	}{
		{"a factory with a pod informer", "clientgo", [][]string{nil, with, {with[0], "-tags=" + withoutOpenAPI}}},
		// There is no third build: the tag saves nothing here, because Prometheus' metrics also
		// link Google's protobuf library.
		{"a manager of controller-runtime with a reconciler of pods", "manager", [][]string{nil, with}},
	} {
		var all []*program
		for _, flags := range compared.ways {
			p, err := build(steps, dir, fmt.Sprint(compared.directory, len(flags)), compared.directory, flags...)
			if err != nil {
				return err
			}
			all = append(all, p)
		}
		for n := range starts {
			for i := range all { // in each round, another program comes first
				steps.Next("start %d of %d", n+1, starts)
				if err := all[(n+i)%len(all)].start(); err != nil {
					return err
				}
			}
		}
		fmt.Fprintf(out, "\nTHE LINE, %s\n\n%s", compared.title, dropinTable(all))
	}
	return nil
}

// modFile returns the path of dropin.mod, which is bench's go.mod with the replace directive.
func modFile() (string, error) {
	mod, err := subprocess.Output("go", "env", "GOMOD")
	return filepath.Join(filepath.Dir(strings.TrimSpace(mod)), "dropin.mod"), err
}

// dropinTable compares programs to the first one, which is built without the replace directive.
func dropinTable(all []*program) report.Table {
	t := report.Table{[]string{"", "client-go", "with the line", "ratio", "and the tag", "ratio"}[:2*len(all)]}
	for _, r := range rows {
		cells := []string{r.name, fmt.Sprintf(r.format, r.value(all[0]))}
		for _, p := range all[1:] {
			cells = append(cells, fmt.Sprintf(r.format, r.value(p)), fmt.Sprintf("%.2f", r.value(p)/r.value(all[0])))
		}
		t.Add(cells...)
	}
	return t
}
