//go:build !js

// Program is for browsers: see package site, which compiles it with GOOS=js.
package main

import "fmt"

func main() { fmt.Println("this program is for browsers: make site") }
