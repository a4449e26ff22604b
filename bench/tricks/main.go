package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/kinform/kinform/bench/internal/report"
)

func main() {
	into := flag.String("into", "", "file in which to replace the table; by default the table is printed")
	flag.Parse()
	if err := run(*into, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "tricks:", err)
		os.Exit(1)
	}
}

func run(into string, outputs []string) error {
	text, err := empty(), error(nil)
	if len(outputs) > 0 {
		var all strings.Builder
		for _, name := range outputs {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			all.Write(data)
			all.WriteByte('\n')
		}
		text, err = filled(all.String())
	}
	if err != nil || into == "" {
		fmt.Print(text)
		return err
	}
	data, err := os.ReadFile(into)
	if err != nil {
		return err
	}
	replaced, err := replace(string(data), text)
	if err != nil {
		return fmt.Errorf("%s: %w", into, err)
	}
	return os.WriteFile(into, []byte(replaced), 0o644)
}

// These lines enclose the table.
const (
	begin = "<!-- The table is written by bench/tricks. -->\n"
	end   = "<!-- Its end. -->\n"
)

// replace puts a text between the two lines.
func replace(document, text string) (string, error) {
	before, rest, found := strings.Cut(document, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", fmt.Errorf("the lines %q and %q are missing", begin, end)
	}
	return before + begin + text + end + after, nil
}

// header is the header of the table, in Markdown.
const header = "| | client-go | plain | kinform | without sharing | better by | what buys it |\n|---|---:|---:|---:|---:|---:|---|\n"

// empty returns the table without numbers.
func empty() string {
	var b strings.Builder
	b.WriteString(header)
	for _, g := range groups {
		fmt.Fprintf(&b, "| **%s** | | | | | | |\n", g.name)
		for _, t := range g.tricks {
			fmt.Fprintf(&b, "| %s | | | | | | %s |\n", t.what, t.trick)
		}
	}
	b.WriteString("\nNot measured yet.\n")
	return b.String()
}

// filled returns the table with the numbers of an output, and a line that describes the output.
func filled(output string) (string, error) {
	tables := report.Parse(output)
	var b strings.Builder
	b.WriteString(header)
	for _, g := range groups {
		fmt.Fprintf(&b, "| **%s** | | | | | | |\n", g.name)
		for _, t := range g.tricks {
			cells, err := t.cells(tables)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", t.what, strings.Join(cells, " | "), t.trick)
		}
	}
	fmt.Fprintf(&b, "\nMeasured %s, commit %s, client-go %s; %s.\n", fact(output, "date"), fact(output, "kinform"), fact(output, "client-go"), fact(output, "machine"))
	return b.String(), nil
}

// fact returns a line of the first heading in an output.
func fact(output, name string) string {
	for line := range strings.Lines(output) {
		if word, rest, _ := strings.Cut(line, " "); word == name {
			return strings.TrimSpace(rest)
		}
	}
	return "unknown"
}
