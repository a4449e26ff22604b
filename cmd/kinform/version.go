package main

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:               "version",
		Short:             "Print the version of kinform and of what it was built with",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine())
			return err
		},
	}
}

// versionLine is what "kinform version" and "kinform --version" print.
func versionLine() string {
	return fmt.Sprintf("kinform %s, %s %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionOf(info)
}

// versionOf returns the version that the Go toolchain recorded: a module version, or the commit of the
// checkout with its day. "go run", and a build outside of a checkout, record neither.
func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	recorded := map[string]string{}
	for _, s := range info.Settings {
		recorded[s.Key] = s.Value
	}
	revision := recorded["vcs.revision"]
	if revision == "" {
		return "of unknown version (built without version control: use make build)"
	}
	v := "commit " + revision[:min(12, len(revision))]
	if day, _, ok := strings.Cut(recorded["vcs.time"], "T"); ok {
		v += " of " + day
	}
	if recorded["vcs.modified"] == "true" {
		v += ", modified"
	}
	return v
}

// release returns the version of kinform that the command was released with, or "" for a build of a checkout.
func release() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return releaseOf(info.Main.Version)
}

// madeUp is the end of a version that the Go toolchain made up from a commit: its time and its hash, and what a changed checkout adds.
var madeUp = regexp.MustCompile(`[-.]\d{14}-[0-9a-f]{12}(\+.*)?$`)

// releaseOf returns a module version, unless the Go toolchain made it up from a commit.
func releaseOf(version string) string {
	if version == "(devel)" || strings.Contains(version, "+dirty") || madeUp.MatchString(version) {
		return ""
	}
	return version
}
