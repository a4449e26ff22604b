package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/kinform/kinform/bench/internal/aside"
	"github.com/kinform/kinform/bench/internal/report"
	"github.com/kinform/kinform/bench/internal/turns"
)

// withoutOpenAPI is the tag by which a program is built that has no use for the OpenAPI v2 document, nor for the field managers of
// fakes; see clientgo/README.md.
const withoutOpenAPI = "kinform_no_openapi"

// line measures programs without and with the line that puts module clientgo in client-go's place.
func line(dir string, starts int, out io.Writer) error {
	file, err := modFile()
	if err != nil {
		return err
	}
	for _, compared := range []struct{ title, directory string }{
		{"a factory with a pod informer", "clientgo"},
		{"a manager of controller-runtime with a reconciler of pods", "manager"},
	} {
		var all []*program
		for _, flags := range [][]string{nil, {"-modfile=" + file}, {"-modfile=" + file, "-tags=" + withoutOpenAPI}} {
			p, err := build(dir, fmt.Sprint(compared.directory, len(flags)), compared.directory, flags...)
			if err != nil {
				return err
			}
			all = append(all, p)
		}
		for n := range starts {
			for _, p := range turns.Of(n, all[:2], all[2]) {
				if err := p.start(); err != nil {
					return err
				}
			}
		}
		fmt.Fprintf(out, "\nTHE LINE, %s\n\n%s", compared.title, lineTable(all))
	}
	return nil
}

// modFile returns bench's go.mod with the line.
func modFile() (string, error) {
	mod, err := aside.Output("go", "env", "GOMOD")
	return filepath.Join(filepath.Dir(strings.TrimSpace(mod)), "dropin.mod"), err
}

// lineTable has the ratios to the first of the programs, which is that without the line.
func lineTable(all []*program) report.Table {
	t := report.Table{{"", "client-go", "with the line", "ratio", "and the tag", "ratio"}}
	for _, r := range rows {
		cells := []string{r.name, fmt.Sprintf(r.format, r.value(all[0]))}
		for _, p := range all[1:] {
			cells = append(cells, fmt.Sprintf(r.format, r.value(p)), fmt.Sprintf("%.2f", r.value(p)/r.value(all[0])))
		}
		t.Add(cells...)
	}
	return t
}
