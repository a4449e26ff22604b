package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/kinform/kinform/bench/internal/report"
	"github.com/kinform/kinform/bench/internal/subprocess"
)

// sources is the import path of the sides' directories.
const sources = "github.com/kinform/kinform/bench/controller/"

// build builds the program of a side, with the flags of a release.
func build(s *side) error {
	_, err := subprocess.Output("go", "build", "-trimpath", "-ldflags=-s -w", "-o", s.binary, sources+s.source)
	return err
}

// sizeTable returns the table of program sizes: lines, bytes and packages. It does not run the
// programs.
func sizeTable(sides []*side) (report.Table, error) {
	table := report.Table{{"the program", sides[0].name, sides[1].name, "ratio", "target", ""}}
	var weights []map[string]float64
	for _, s := range sides {
		w, err := sizesOf(s)
		if err != nil {
			return nil, err
		}
		weights = append(weights, w)
	}
	for _, row := range []string{"lines by hand", "lines generated", "binary, bytes", "packages linked", "modules linked"} {
		target := 0.0
		if row == "binary, bytes" {
			target = 0.5
		}
		table.Add(comparison(row, "%.0f", 1, weights[0][row], weights[1][row], target)...)
	}
	return table, nil
}

func sizesOf(s *side) (map[string]float64, error) {
	info, err := os.Stat(s.binary)
	if err != nil {
		return nil, err
	}
	w := map[string]float64{"binary, bytes": float64(info.Size())}
	deps, err := subprocess.Output("go", "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", sources+s.source)
	if err != nil {
		return nil, err
	}
	modules := map[string]bool{}
	for line := range strings.Lines(deps) {
		w["packages linked"]++
		// The standard library has no module, and the program's own module is bench.
		if _, module, _ := strings.Cut(strings.TrimSpace(line), " "); module != "" && !strings.HasSuffix(module, "/bench") {
			modules[module] = true
		}
	}
	w["modules linked"] = float64(len(modules))
	folder, err := subprocess.Output("go", "list", "-f", "{{.Dir}}", sources+s.source)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(folder), "*.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		row := "lines by hand"
		if strings.HasPrefix(filepath.Base(file), "zz_") {
			row = "lines generated"
		}
		w[row] += float64(lines(string(source)))
	}
	return w, nil
}

// lines counts the lines of a formatted file that a user has to write. It excludes the package
// clause, imports, comments, empty lines, and the lines that exist only for the measurement.
func lines(source string) (n int) {
	imports := false
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		switch {
		case line == "import (":
			imports = true
		case imports:
			imports = line != ")"
		case line == "", strings.HasPrefix(line, "//"), strings.HasPrefix(line, "package "), strings.HasPrefix(line, "import "):
		case strings.Contains(line, "probe."), strings.Contains(line, "waiting"):
		default:
			n++
		}
	}
	return n
}

// moduleVersion returns the version of a module that go.mod requires.
func moduleVersion(module string) string {
	version, err := subprocess.Output("go", "list", "-m", "-f", "{{.Version}}", module)
	if err != nil {
		return "of unknown version"
	}
	return strings.TrimSpace(version)
}
