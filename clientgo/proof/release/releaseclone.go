package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// releaseClone has a clone with the release commit and its tags. The go command fetches kinform's
// modules from the clone as it will fetch them from the repository: by tag, without a proxy.
type releaseClone struct {
	release
	dir    string // temporary
	clone  string // in dir
	env    []string
	commit string // hash of the release commit
}

// newReleaseClone makes the release commit.
func newReleaseClone(ctx context.Context, r release, dir string) (*releaseClone, error) {
	clone := filepath.Join(dir, "clone")
	w := &releaseClone{release: r, dir: dir, clone: clone}
	if _, err := output(ctx, dir, nil, "git", "clone", "--quiet", "--shared", "--no-tags", r.root, clone); err != nil {
		return nil, err
	}
	said, err := output(ctx, r.root, nil, "go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return nil, err
	}
	cache, proxies, _ := strings.Cut(said, "\n")
	by, err := output(ctx, clone, nil, "git", "log", "-1", "--format=%cn%n%ce%n%cI")
	if err != nil {
		return nil, err
	}
	who := strings.Split(by, "\n")
	w.env = append(os.Environ(),
		"GOPROXY=file://"+filepath.ToSlash(cache)+"/cache/download,"+proxies, "GONOPROXY="+kinform, "GONOSUMDB="+kinform,
		"GOMODCACHE="+filepath.Join(dir, "first", "modules"), "GOFLAGS=-modcacherw -trimpath", "GOWORK=off",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+filepath.ToSlash(clone)+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+kinform,
		// The same checkout gives the same release commit.
		"GIT_AUTHOR_NAME="+who[0], "GIT_AUTHOR_EMAIL="+who[1], "GIT_AUTHOR_DATE="+who[2],
		"GIT_COMMITTER_NAME="+who[0], "GIT_COMMITTER_EMAIL="+who[1], "GIT_COMMITTER_DATE="+who[2])
	return w, w.makeCommit(ctx)
}

func (w *releaseClone) makeCommit(ctx context.Context) error {
	files, err := w.git(ctx, "ls-files", "*.mod")
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(files) {
		if err := w.setVersions(w.clone, name); err != nil {
			return err
		}
	}
	if _, err := w.git(ctx, "checkout", "--quiet", "-b", w.branch()); err != nil {
		return err
	}
	subject := "Release v" + w.number
	if _, err := w.git(ctx, "commit", "--quiet", "--all", "--no-verify", "-m", subject); err != nil {
		return err
	}
	for _, folder := range folders {
		// go.sum needs the sums of the modules that have a tag already.
		if _, err := output(ctx, filepath.Join(w.clone, folder), w.env, "go", "mod", "tidy"); err != nil {
			return err
		}
		if _, err := w.git(ctx, "commit", "--quiet", "--all", "--no-verify", "--amend", "-m", subject); err != nil {
			return err
		}
		if _, err := w.git(ctx, "tag", w.tag(folder)); err != nil {
			return err
		}
	}
	// A zip leaves out the folders of other modules, so a module's sum is the same in each commit.
	for _, tag := range w.tags() {
		if _, err := w.git(ctx, "tag", "--force", tag); err != nil {
			return err
		}
	}
	w.commit, err = w.git(ctx, "rev-parse", "HEAD")
	return err
}

// publishBranch puts the branch into the checkout, and prints how to release it.
func (w *releaseClone) publishBranch(ctx context.Context, unchecked string) error {
	if _, err := output(ctx, w.root, nil, "git", "fetch", "--quiet", "--no-tags", w.clone, "+"+w.branch()+":"+w.branch()); err != nil {
		return err
	}
	fmt.Printf("\nBranch %s has the release commit. Nothing is tagged, nothing is pushed. To release it:\n\n", w.branch())
	for _, tag := range w.tags() {
		fmt.Printf("git tag -a -m 'kinform v%s' %s %s\n", w.number, tag, w.commit)
	}
	fmt.Printf("git push --atomic origin %s\n", strings.Join(w.tags(), " "))
	if unchecked != "" {
		fmt.Printf("\nNot checked: %s\n", unchecked)
	}
	return nil
}

func (w *releaseClone) git(ctx context.Context, args ...string) (string, error) {
	return output(ctx, w.clone, w.env, "git", args...)
}

// output runs a command, and returns its output. An error contains the output too.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	said := strings.TrimSpace(stdout.String())
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, strings.TrimSpace(said+"\n"+stderr.String()))
	}
	return said, err
}
