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
		Short:             "Print the versions of kinform and of Go, and the platform",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine())
			return err
		},
	}
}

// versionLine is the output of "kinform version" and "kinform --version".
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

// versionOf returns the version recorded by the Go toolchain: a module version, or the commit and
// day of the checkout. "go run" records neither, and a build outside of a checkout records neither.
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

// release returns the released version of kinform, or "" if the command was built from a checkout.
func release() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return releaseOf(info.Main.Version)
}

// pseudoVersion matches the end of a pseudo-version: the time and hash of a commit, and the suffix
// of a modified checkout.
var pseudoVersion = regexp.MustCompile(`[-.]\d{14}-[0-9a-f]{12}(\+.*)?$`)

// releaseOf returns version, or "" if it is a pseudo-version.
func releaseOf(version string) string {
	if version == "(devel)" || strings.Contains(version, "+dirty") || pseudoVersion.MatchString(version) {
		return ""
	}
	return version
}
