// Command tricks prints the table "What every trick buys" of plain/README.md, in Markdown, from the
// output of the other programs of this module. Run it in the directory bench:
//
//	make compare | tee OUTPUT
//	go run ./tricks [-into ../plain/README.md] OUTPUT
//
// It measures nothing. All numbers are copied from one output, so they belong to one run; a row
// that the output lacks is an error. Without OUTPUT, the cells of numbers are empty.
package main
