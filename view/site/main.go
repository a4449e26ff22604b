// Site builds a folder of static files: the page of package view, with the program compiled for the
// browser:
//
//	go run ./view/site -o DIR
//
// Any static host can serve it, at any path. Site prints the transferred size of each file, and
// fails if the total is more than 10 MB.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	dir := flag.String("o", "bin/site", "the folder to write; files of the same names are replaced, other files stay")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "site: unknown argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	files, err := build(*dir)
	if err == nil {
		err = report(os.Stdout, *dir, files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}
