package main

import (
	"fmt"
	"go/types"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
)

// comparison compares a package of client-go with our package of the same path.
type comparison struct {
	path string
	// number of exported identifiers of the package, including the methods and fields of its types
	identifiers int
	differences []string // missing or incompatible identifiers without an entry in the allowlist
	allowed     int      // number of differences with an entry in the allowlist
	reason      string   // reason of the allowed differences
}

func compare(real, ours map[string]*types.Package) []comparison {
	var all []comparison
	for _, path := range slices.Sorted(maps.Keys(real)) {
		c := comparison{path: path, identifiers: count(real[path])}
		if our := ours[path]; our == nil {
			c.differences = missing(real[path])
		} else {
			for _, change := range apidiff.Changes(real[path], our).Changes {
				if !change.Compatible {
					c.differences = append(c.differences, change.Message)
				}
			}
		}
		c.applyAllowlist()
		all = append(all, c)
	}
	return all
}

// missing returns a difference for each exported identifier of p.
func missing(p *types.Package) (all []string) {
	for _, name := range p.Scope().Names() {
		if p.Scope().Lookup(name).Exported() {
			all = append(all, name+": the package is missing")
		}
	}
	return all
}

func count(p *types.Package) (n int) {
	for _, name := range p.Scope().Names() {
		if object := p.Scope().Lookup(name); object.Exported() {
			n += 1 + countMembers(object)
		}
	}
	return n
}

func countMembers(object types.Object) (n int) {
	name, isType := object.(*types.TypeName)
	if !isType || name.IsAlias() {
		return 0
	}
	named, ok := name.Type().(*types.Named)
	if !ok {
		return 0
	}
	for method := range named.Methods() {
		if method.Exported() {
			n++
		}
	}
	switch under := named.Underlying().(type) {
	case *types.Struct:
		for field := range under.Fields() {
			if field.Exported() {
				n++
			}
		}
	case *types.Interface:
		for method := range under.ExplicitMethods() {
			if method.Exported() {
				n++
			}
		}
	}
	return n
}

// present returns the number of identifiers that exist and are compatible.
func (c comparison) present() int {
	if n := c.identifiers - len(c.differences) - c.allowed; n > 0 && !c.absent() {
		return n
	}
	return 0
}

func (c comparison) absent() bool {
	return len(c.differences) > 0 && strings.HasSuffix(c.differences[0], ": the package is missing")
}

func (c comparison) printDifferences(w io.Writer) {
	for _, difference := range c.differences {
		fmt.Fprintf(w, "%s: %s\n", c.path, difference)
	}
	fmt.Fprintf(w, "%s: %d of %d identifiers\n", c.path, c.present(), c.identifiers)
}

// generated are folders in which all packages are generated. Each folder is one row of the table.
var generated = []string{"applyconfigurations", "informers", "kubernetes", "listers"}

// rows combines the packages below each folder of generated into one row, to keep the table short.
func rows(all []comparison) (rows []comparison) {
	at, packages := map[string]int{}, map[string]int{}
	for _, c := range all {
		folder, _, _ := strings.Cut(c.path, "/")
		if !slices.Contains(generated, folder) {
			rows = append(rows, c)
			continue
		}
		i, ok := at[folder]
		if !ok {
			i = len(rows)
			at[folder] = i
			rows = append(rows, comparison{path: folder})
		}
		packages[folder]++
		rows[i].identifiers += c.identifiers
		rows[i].allowed += c.allowed
		rows[i].differences = append(rows[i].differences, c.differences...)
		rows[i].path = fmt.Sprintf("%s/... (%d packages)", folder, packages[folder])
	}
	return rows
}

func printTable(w io.Writer, all []comparison) {
	fmt.Fprintf(w, "| package | client-go | here | missing or different |\n|---|---:|---:|---|\n")
	for _, c := range rows(all) {
		note := c.reason
		if c.absent() {
			note = "all"
		} else if len(c.differences) > 0 {
			note = c.differences[0]
			if more := len(c.differences) - 1; more > 0 {
				note += fmt.Sprintf("; and %d more", more)
			}
		}
		fmt.Fprintf(w, "| `%s` | %d | %d | %s |\n", c.path, c.identifiers, c.present(), note)
	}
}

// shortfall returns an error if there is a difference without an entry in the allowlist, or an
// entry without a difference.
func shortfall(all []comparison) error {
	var short []string
	identifiers, present := 0, 0
	for _, c := range all {
		identifiers += c.identifiers
		present += c.present()
		for _, difference := range c.differences {
			short = append(short, c.path+": "+difference)
		}
	}
	fmt.Printf("%d packages, %d of %d identifiers\n", len(all), present, identifiers)
	if len(short) > 0 {
		return fmt.Errorf("%d identifiers are missing or different:\n%s", len(short), strings.Join(short, "\n"))
	}
	if paths := unusedEntries(all); len(paths) > 0 {
		return fmt.Errorf("allowlist.go has what differs no more:\n%s", strings.Join(paths, "\n"))
	}
	return nil
}
