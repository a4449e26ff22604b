// Package migrate makes a program use kinform in place of client-go, with a replace directive in
// its go.mod.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// options are the flags of "kinform migrate".
type options struct {
	from    string
	version string
	dryRun  bool
	undo    bool
}

// Command returns "kinform migrate". release is the version of kinform that the command was
// released with, or "" for an unreleased build. The replace directive has this version by default.
func Command(release string) *cobra.Command {
	opts := options{version: release}
	cmd := &cobra.Command{
		Use:   "migrate [DIR]",
		Short: "Move a program from client-go to kinform",
		Long: `migrate adds a line to the go.mod of the module in DIR (default: the current folder):

  replace k8s.io/client-go => github.com/kinform/kinform/clientgo VERSION

VERSION has two parts. v0.37.2-kinform.0.1.0 stands for client-go v0.37.2, in kinform's release v0.1.0.

The line may raise versions of other modules, and of Go. migrate prints each raised version and the
reason. Then it compiles the module with its tests, and lists each identifier of client-go that kinform
does not have, with file, line and what to do. migrate changes only go.mod and go.sum, and restores
both after an interrupt. It does not run the program.

--undo removes the line from go.mod, and restores all versions that the line had changed. A comment
behind the line records these versions. Your later changes stay.`,
		Example: `  kinform migrate --dry-run
  kinform migrate
  kinform migrate --from ../kinform   # a checkout
  kinform migrate --undo`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return opts.run(cmd.Context(), dir, cmd.OutOrStdout(), progress{cmd.ErrOrStderr()})
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&opts.dryRun, "dry-run", false, "print what would be changed, and change nothing")
	flags.BoolVar(&opts.undo, "undo", false, "remove the line again")
	flags.StringVar(&opts.from, "from", "", "the folder of a checkout of kinform, to use in the line instead of a release")
	flags.StringVar(&opts.version, "version", opts.version, "the release of kinform to use in the line, such as v0.1.0")
	return cmd
}

func (o options) run(ctx context.Context, dir string, out io.Writer, p progress) error {
	if o.undo && o.dryRun {
		return errors.New("--undo and --dry-run exclude each other: go.mod shows the line that --undo removes")
	}
	m, err := openModule(ctx, dir)
	if err != nil {
		return err
	}
	if o.undo {
		return undo(ctx, m, out, p)
	}
	target, err := o.target()
	if err != nil {
		return err
	}
	return migrate(ctx, m, target, o.dryRun, out, p)
}

// migrate adds the replace directive and the requirements that it needs. It reports which code does
// not compile with them.
func migrate(ctx context.Context, m *module, t target, dryRun bool, out io.Writer, p progress) error {
	if err := m.replaceable(ctx); err != nil {
		return err
	}
	if hint := m.minorMismatch(); hint != "" {
		fmt.Fprintln(out, hint)
	}
	d, err := newDraft(m)
	if err != nil {
		return err
	}
	defer d.remove()
	if err := d.edit(ctx, t.edits()...); err != nil {
		return err
	}
	if err := d.edit(ctx, m.parsed.pins()...); err != nil {
		return err
	}
	if err := d.tidyWithProgress(ctx, p); err != nil {
		return err
	}
	if err := m.checkPinnedModules(d.parsed); err != nil {
		return err
	}
	raised, err := d.raised(ctx)
	if err != nil {
		return err
	}
	becomes := "becomes"
	if dryRun {
		becomes = "would become"
	}
	for _, line := range t.lines() {
		if dryRun {
			fmt.Fprintf(out, "%s would get: replace %s\n", m.file, line)
		} else {
			fmt.Fprintf(out, "%s: replace %s\n", m.file, line)
		}
	}
	for _, r := range raised {
		fmt.Fprintf(out, "%s: %s %s %s %s: %s\n", m.file, r.name, r.before, becomes, r.after, r.reason)
	}
	if hint, err := d.newerModules(ctx); err != nil {
		return err
	} else if hint != "" {
		fmt.Fprintln(out, hint)
	}
	if dryRun {
		fmt.Fprintln(out, "nothing was changed, and nothing was compiled. Next: the same without --dry-run")
		return nil
	}
	if err := d.recordVersions(); err != nil {
		return err
	}
	restore, err := d.apply()
	if err != nil {
		return err
	}
	if m.vendored() {
		fmt.Fprintln(out, "vendor/ still has client-go: run go mod vendor, and build again")
	}
	report, err := compileWithProgress(ctx, m, raised, p)
	if err != nil {
		if restoreErr := restore(); restoreErr != nil {
			return errors.Join(err, fmt.Errorf("the lines could not be removed from %s: %w: run kinform migrate --undo", m.file, restoreErr))
		}
		return fmt.Errorf("%w: go.mod and go.sum are unchanged", err)
	}
	report.print(out)
	if n := len(report.findings); n > 0 {
		return fmt.Errorf("%d places do not compile with the line: fix them, or run kinform migrate --undo (then go vet ./... shows whether they compile without the line)", n)
	}
	fmt.Fprintln(out, "Next: run go test ./..., and then the program. clientgo/README.md lists what behaves differently. kinform migrate --undo removes the line")
	return nil
}

// tidyWithProgress tidies the draft, and shows how the downloads progress.
func (d *draft) tidyWithProgress(ctx context.Context, p progress) error {
	return d.m.withProgress(p, "resolving the modules (go mod tidy)", "lines of go mod tidy", func() error { return d.tidy(ctx) })
}

// compileWithProgress compiles the module, and shows its progress.
func compileWithProgress(ctx context.Context, m *module, raised []raisedVersion, p progress) (r *report, err error) {
	err = m.withProgress(p, "compiling the module, its tests and all imports; the first time takes minutes", "packages", func() error {
		r, err = compile(ctx, m, raised)
		return err
	})
	return r, err
}

// withProgress runs the function work. Its progress consists of the go command's messages.
func (m *module) withProgress(p progress, what, counted string, work func() error) error {
	return p.run(what, counted, func(said io.Writer) error {
		m.output = said
		defer func() { m.output = nil }()
		return work()
	})
}

// undo removes the directives that migrate added.
func undo(ctx context.Context, m *module, out io.Writer, p progress) error {
	edits, err := m.undoEdits()
	if err != nil {
		return err
	}
	for _, r := range m.parsed.Replace {
		if r.Old.Path == kinform && m.imports(kinform) {
			continue
		}
		if r.isOurs() {
			fmt.Fprintf(out, "%s: without replace %s\n", m.file, r)
			edits = append(edits, "-dropreplace="+r.Old.name())
		}
	}
	if len(edits) == 0 {
		return fmt.Errorf("%s has no line of kinform migrate", m.file)
	}
	if !m.imports(kinform) {
		// kinform may be unavailable without its replace directive.
		edits = append(edits, "-droprequire="+kinform)
	}
	d, err := newDraft(m)
	if err != nil {
		return err
	}
	defer d.remove()
	if err := d.edit(ctx, edits...); err != nil {
		return err
	}
	if err := d.tidyWithProgress(ctx, p); err != nil {
		return err
	}
	if _, err := d.apply(); err != nil {
		return err
	}
	if m.vendored() {
		fmt.Fprintln(out, "vendor/ may still have kinform: run go mod vendor, and build again")
	}
	return nil
}
