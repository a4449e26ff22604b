// Command tricks prints the table "What every trick buys" of plain/README.md, in Markdown, from what the other programs of
// this module have printed. Run it in the directory bench:
//
//	make compare | tee OUTPUT
//	go run ./tricks [-into ../plain/README.md] OUTPUT
//
// It measures nothing. All of its numbers are copied from one output, so that they are of one run; a row that the output does not
// have is an error. Without OUTPUT, cells of numbers are empty.
package main
