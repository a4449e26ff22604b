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

// whole names the packages of which nothing may be missing. Of the others, a fiftieth may.
var whole = []string{
	"tools/cache", "util/workqueue", "util/retry", "tools/leaderelection", "tools/record", "dynamic", "discovery",
	"restmapper", "kubernetes", "informers", "listers", "rest",
}

// comparison is what one package of client-go and ours under the same path have in common.
type comparison struct {
	path        string
	identifiers int      // exported: of the package, and methods and fields of its types
	differences []string // each an identifier that is missing or incompatible
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
		all = append(all, c)
	}
	return all
}

// missing has a difference for each exported identifier of p.
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

// present returns how many of the identifiers are there and compatible.
func (c comparison) present() int {
	if n := c.identifiers - len(c.differences); n > 0 && !c.absent() {
		return n
	}
	return 0
}

func (c comparison) absent() bool {
	return len(c.differences) > 0 && strings.HasSuffix(c.differences[0], ": the package is missing")
}

// due is how many of the identifiers have to be there.
func (c comparison) due() int {
	for _, path := range whole {
		if c.path == path || strings.HasPrefix(c.path, path+"/") && path != "rest" && path != "tools/cache" {
			return c.identifiers
		}
	}
	return c.identifiers - c.identifiers/50
}

func (c comparison) printDifferences(w io.Writer) {
	for _, difference := range c.differences {
		fmt.Fprintf(w, "%s: %s\n", c.path, difference)
	}
	fmt.Fprintf(w, "%s: %d of %d identifiers\n", c.path, c.present(), c.identifiers)
}

func printTable(w io.Writer, all []comparison) {
	fmt.Fprintf(w, "| package | client-go | here | missing or different |\n|---|---:|---:|---|\n")
	for _, c := range all {
		note := ""
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

// shortfall is an error that says how much is missing, if too much is.
func shortfall(all []comparison) error {
	var short []string
	identifiers, present := 0, 0
	for _, c := range all {
		identifiers += c.identifiers
		present += c.present()
		if c.present() < c.due() {
			short = append(short, c.path)
		}
	}
	fmt.Printf("%d packages, %d of %d identifiers\n", len(all), present, identifiers)
	if len(short) > 0 {
		return fmt.Errorf("%d packages have less than their due: %s", len(short), strings.Join(short, ", "))
	}
	return nil
}
