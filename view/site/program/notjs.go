//go:build !js

// Program runs only in browsers: package site compiles it with GOOS=js.
package main

import "fmt"

func main() { fmt.Println("this program runs only in a browser: run make site") }
