// Command tricks prints the table "What every trick buys" of plain/README.md, in Markdown, from the
// output of the other programs of this module. Run it in the directory bench:
//
//	make compare | tee OUTPUT
//	go run ./tricks [-into ../plain/README.md] OUTPUT
//
// Command tricks measures nothing. It copies all numbers from one output, so they belong to one
// run. If the output lacks a row, this is an error. Without OUTPUT, the cells of numbers are empty.
package main
