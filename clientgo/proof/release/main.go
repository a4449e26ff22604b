// Command release prepares the release in file VERSION (docs/adr/0009-modules.md), and publishes
// nothing. It makes the release commit in a clone, and tests this commit as Go will fetch it. Then
// it leaves the commit on branch release-vX.Y.Z, and prints the commands that set the tags.
//
//	go run ./release                          # all steps: make release
//	go run ./release -only=program [-in=DIR]  # migrates a program: make dropin-release
//	go run ./release -only=api [-base=COMMIT] # compares the exported API: make api
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		log.Fatal("release: ", err)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	only := flags.String("only", "", "the only step to run: api or program")
	program := flags.String("in", "", "the folder of a module that requires client-go; a copy of it is migrated")
	base := flags.String("base", "", "the commit that the API is compared with, in place of the newest release")
	database := flags.String("vulndb", "https://vuln.go.dev", "the database of govulncheck")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := output(ctx, "", nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	r, err := readRelease(root)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "kinform-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	if *only == "api" {
		return r.compareAPI(ctx, dir, *base)
	}
	if *only == "" {
		if err := r.checkReady(ctx); err != nil {
			return err
		}
		if err := r.compareAPI(ctx, dir, *base); err != nil {
			return err
		}
	}
	w, err := newReleaseClone(ctx, r, dir)
	if err != nil {
		return err
	}
	kinformCommand, err := w.install(ctx, "first", false)
	if err != nil {
		return err
	}
	if err := w.tryProgram(ctx, kinformCommand, *program); err != nil || *only == "program" {
		return err
	}
	if err := w.checkReproducible(ctx, kinformCommand); err != nil {
		return err
	}
	unchecked, err := w.findVulnerabilities(ctx, *database)
	if err != nil {
		return err
	}
	return w.publishBranch(ctx, unchecked)
}
