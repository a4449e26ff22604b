package main

import (
	"bytes"
	"errors"
	"io"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// kinform runs a command line in this process.
func kinform(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(io.Discard)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestHelpEverywhere(t *testing.T) {
	t.Parallel()
	overview, err := kinform(t)
	require.NoError(t, err)
	help, err := kinform(t, "--help")
	require.NoError(t, err)
	require.Equal(t, help, overview, "the command without arguments must print the help")

	var visit func(cmd *cobra.Command, path []string)
	visit = func(cmd *cobra.Command, path []string) {
		require.NotEmpty(t, cmd.Short, path)
		help, err := kinform(t, append(path, "--help")...)
		require.NoError(t, err)
		require.Contains(t, help, "Usage:\n  kinform "+strings.Join(path, " "))
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			require.Contains(t, help, "--"+flag.Name)
			require.NotEmpty(t, flag.Usage, flag.Name)
		})
		for _, sub := range cmd.Commands() {
			visit(sub, append(path[:len(path):len(path)], sub.Name()))
		}
	}
	for _, cmd := range newRoot().Commands() {
		require.Contains(t, overview, "\n  "+cmd.Name()+" ")
		visit(cmd, []string{cmd.Name()})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	out, err := kinform(t, "version")
	require.NoError(t, err)
	require.Regexp(t, `^kinform .+, go1\.\S+ \w+/\w+\n$`, out)
	require.NotContains(t, out, "(devel)")
	flag, err := kinform(t, "--version")
	require.NoError(t, err)
	require.Equal(t, out, flag)

	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	revision, day := setting("vcs.revision", "0123456789abcdef0123"), setting("vcs.time", "2026-11-22T14:00:00Z")
	for want, info := range map[string]debug.BuildInfo{
		"v1.2.3":                            {Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{revision}},
		"commit 0123456789ab of 2026-11-22": {Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{revision, day}},
		"commit 0123456789ab of 2026-11-22, modified":                        {Settings: []debug.BuildSetting{setting("vcs.modified", "true"), revision, day}},
		"of unknown version (built without version control: use make build)": {Main: debug.Module{Version: "(devel)"}},
	} {
		require.Equal(t, want, versionOf(&info))
	}
}

func TestPseudoVersionIsNotARelease(t *testing.T) {
	for version, release := range map[string]bool{
		"v0.1.0": true, "v0.2.0-rc.1": true, "(devel)": false, "": false, "v0.1.0+dirty": false,
		"v0.0.0-20261124161559-a2b19aa63376":        false, // before the first tag
		"v0.1.1-0.20261124161559-a2b19aa63376":      false,
		"v0.2.0-rc.1.0.20261124161559-a2b19aa63376": false,
		"v0.0.0-20261124161559-a2b19aa63376+dirty":  false,
	} {
		require.Equal(t, release, releaseOf(version) != "", version)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		script, err := kinform(t, "completion", shell)
		require.NoError(t, err)
		require.Contains(t, script, "__complete", shell)
	}
	for want, args := range map[string][]string{
		"demo\tRun the whole pipeline": {"de"},
		"json\n:4":                     {"demo", "--output", ""},
		"table\njson\nyaml\n:4":        {"watch", "pods", "-o", ""},
		"--faults\t":                   {"demo", "--fa"},
		":4":                           {"apiserver", ""},
	} {
		got, err := kinform(t, append([]string{"__complete"}, args...)...)
		require.NoError(t, err)
		require.Contains(t, got, want)
	}
}

func TestArgumentErrors(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`unknown command "dmeo": did you mean demo?`:                                  {"dmeo"},
		`unknown command "demoo": did you mean demo?`:                                 {"demoo"},
		`unknown command "nothing": kinform --help lists the commands`:                {"nothing"},
		`unknown command "apiserv": did you mean apiserver?`:                          {"help", "apiserv"},
		"unknown flag: --slowly: kinform demo --help lists the flags":                 {"demo", "--slowly"},
		"unknown flag: --podss: did you mean --pods?":                                 {"demo", "--podss"},
		`--pods "abc" is wrong: it must be a whole number, such as 1000`:              {"demo", "--pods", "abc"},
		`--churn "lots" is wrong: it must be a number, such as 20`:                    {"demo", "--churn", "lots"},
		`--for "ten" is wrong: it must be a time with its unit, such as 10s or 1m30s`: {"watch", "pods", "--for", "ten"},
		`--faults "maybe" is wrong: it must be true or false`:                         {"demo", "--faults=maybe"},
		"flag needs an argument: --pods: kinform apiserver --help lists t":            {"apiserver", "--pods"},
	} {
		out, err := kinform(t, args...)
		require.ErrorContains(t, err, want)
		require.Empty(t, out)
	}
}

func TestErrorsAreOneLine(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a; b  c; d", oneLine(errors.Join(errors.New("a\n\nb  c"), errors.New("d\r\n"))))
}
