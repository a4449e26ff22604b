package migrate

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The queues of client-go and kinform, reduced to the parts that the test programs use.
const (
	theirQueues = `package workqueue

import (
	"time"

	"golang.org/x/time/rate"
)

type TypedInterface[T comparable] interface {
	Add(item T)
	Len() int
	Get() (item T, shutdown bool)
	Done(item T)
	ShutDown()
	ShutDownWithDrain()
	ShuttingDown() bool
}

type TypedDelayingInterface[T comparable] interface {
	TypedInterface[T]
	AddAfter(item T, duration time.Duration)
}

type TypedRateLimitingInterface[T comparable] interface {
	TypedDelayingInterface[T]
	AddRateLimited(item T)
	Forget(item T)
	NumRequeues(item T) int
}

type RateLimitingInterface TypedRateLimitingInterface[any]

type TypedRateLimiter[T comparable] interface {
	When(item T) time.Duration
	Forget(item T)
	NumRequeues(item T) int
}

type RateLimiter TypedRateLimiter[any]

type TypedBucketRateLimiter[T comparable] struct{ *rate.Limiter }

func (*TypedBucketRateLimiter[T]) When(T) time.Duration { return 0 }
func (*TypedBucketRateLimiter[T]) Forget(T)             {}
func (*TypedBucketRateLimiter[T]) NumRequeues(T) int    { return 0 }

type TypedRateLimitingQueueConfig[T comparable] struct {
	Name  string
	Clock any
}

func DefaultControllerRateLimiter() RateLimiter                                  { return nil }
func DefaultTypedControllerRateLimiter[T comparable]() TypedRateLimiter[T]       { return nil }
func NewTypedMaxOfRateLimiter[T comparable](...TypedRateLimiter[T]) TypedRateLimiter[T] { return nil }
func NewTypedItemExponentialFailureRateLimiter[T comparable](a, b time.Duration) TypedRateLimiter[T] { return nil }
func NewTypedRateLimitingQueue[T comparable](TypedRateLimiter[T]) TypedRateLimitingInterface[T] { return nil }
func NewTypedRateLimitingQueueWithConfig[T comparable](TypedRateLimiter[T], TypedRateLimitingQueueConfig[T]) TypedRateLimitingInterface[T] { return nil }
func NewNamedRateLimitingQueue(RateLimiter, string) RateLimitingInterface { return nil }
func ParallelizeUntil()                                                  {}
`
	ourQueues = `package workqueue

import (
	"context"
	"time"
)

type Queue[K comparable] struct{}

type Options[K comparable] struct {
	Name        string
	RateLimiter RateLimiter[K]
}

type RateLimiter[K comparable] interface {
	When(key K) time.Duration
	Forget(key K)
	NumRequeues(key K) int
}

func New[K comparable](Options[K]) *Queue[K]                      { return nil }
func DefaultRateLimiter[K comparable]() RateLimiter[K]             { return nil }
func Exponential[K comparable](a, b time.Duration) RateLimiter[K] { return nil }
func MaxOf[K comparable](...RateLimiter[K]) RateLimiter[K]         { return nil }
func Bucket[K comparable](qps float64, burst int) RateLimiter[K]   { return nil }

func (*Queue[K]) Add(K)                                {}
func (*Queue[K]) AddAfter(K, time.Duration)            {}
func (*Queue[K]) Retry(K)                              {}
func (*Queue[K]) Forget(K)                             {}
func (*Queue[K]) NumRequeues(K) int                    { return 0 }
func (*Queue[K]) Len() int                             { return 0 }
func (*Queue[K]) Done(K)                               {}
func (*Queue[K]) ShutDown()                            {}
func (*Queue[K]) Drain(context.Context) error          { return nil }
func (*Queue[K]) Get(context.Context) (key K, err error) { return key, nil }
`
	aLibrary = `package library

import "k8s.io/client-go/util/workqueue"

func Work(workqueue.TypedRateLimitingInterface[string]) {}
`
)

// queueReleases puts modules with both queues into a proxy.
func queueReleases(t *testing.T) *proxy {
	p := newProxy(t)
	p.release("golang.org/x/time", "v0.15.0", "module golang.org/x/time\n", map[string]string{
		"rate/rate.go": "package rate\n\ntype Limit float64\n\ntype Limiter struct{}\n\nfunc NewLimiter(r Limit, b int) *Limiter { return nil }\n",
	})
	p.release(clientGo, "v0.37.2", "module k8s.io/client-go\n\ngo 1.24\n\nrequire golang.org/x/time v0.15.0\n", map[string]string{
		"util/workqueue/queue.go": theirQueues, "tools/cache/cache.go": "package cache\n\nfunc NewStore() {}\n",
	})
	p.release(kinform, "v0.1.0", "module github.com/kinform/kinform\n\ngo 1.24\n", map[string]string{"workqueue/queue.go": ourQueues})
	p.release("example.com/library", "v1.0.0", "module example.com/library\n\ngo 1.24\n\nrequire k8s.io/client-go v0.37.2\n", map[string]string{"library.go": aLibrary})
	return p
}

// queueProgram writes a module with these files, which compiles.
func queueProgram(t *testing.T, files map[string]string) (dir string) {
	dir = program(t, files)
	goMod := read(t, dir, "go.mod") + "\nrequire golang.org/x/time v0.15.0\n\nrequire example.com/library v1.0.0\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(goMod), 0o644))
	goCommand(t, dir, "mod", "tidy")
	return dir
}

const controllerBefore = `// Package controller is a controller.
package controller

import (
	"time"

	"golang.org/x/time/rate"

	"k8s.io/client-go/util/workqueue"
)

// Controller has a queue.
type Controller struct {
	queue workqueue.TypedRateLimitingInterface[string] // of keys
	limit workqueue.TypedRateLimiter[string]
}

func New(qps float32) *Controller {
	limit := workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute), // of one key
		&workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(rate.Limit(10), 100)},
		&workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(rate.Limit(qps), 100)},
	)
	return &Controller{
		limit: limit,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(limit, workqueue.TypedRateLimitingQueueConfig[string]{Name: "things"}),
	}
}

func (c *Controller) Run() {
	defer c.queue.ShutDown()
	go c.queue.ShutDownWithDrain()
	for c.next() {
	}
}

func (c *Controller) next() bool {
	key, quit := c.queue.Get()
	if quit {
		return false
	}
	defer c.queue.Done(key)
	if !quit && len(key) > 3 {
		c.queue.AddAfter(key, time.Second)
	}
	println(!quit == true, quit)
	if c.queue.NumRequeues(key) < 5 { // again
		c.queue.AddRateLimited(key)
		return !quit
	}
	c.queue.Forget(key)
	return true
}
`

const controllerAfter = `// Package controller is a controller.
package controller

import (
	"context"
	"time"

	"github.com/kinform/kinform/workqueue"
)

// Controller has a queue.
type Controller struct {
	queue *workqueue.Queue[string] // of keys
	limit workqueue.RateLimiter[string]
}

func New(qps float32) *Controller {
	limit := workqueue.MaxOf(
		workqueue.Exponential[string](time.Second, time.Minute), // of one key
		workqueue.Bucket[string](10, 100),
		workqueue.Bucket[string](float64(qps), 100),
	)
	return &Controller{
		limit: limit,
		queue: workqueue.New(workqueue.Options[string]{Name: "things", RateLimiter: limit}),
	}
}

func (c *Controller) Run() {
	defer c.queue.ShutDown()
	go c.queue.Drain(context.Background())
	for c.next() {
	}
}

func (c *Controller) next() bool {
	key, quit := c.queue.Get(context.Background())
	if quit != nil {
		return false
	}
	defer c.queue.Done(key)
	if quit == nil && len(key) > 3 {
		c.queue.AddAfter(key, time.Second)
	}
	println((quit == nil) == true, quit != nil)
	if c.queue.NumRequeues(key) < 5 { // again
		c.queue.Retry(key)
		return quit == nil
	}
	c.queue.Forget(key)
	return true
}
`

func TestQueuesAreExchangedByRule(t *testing.T) {
	queueReleases(t)
	untyped := "package untyped\n\nimport wq \"k8s.io/client-go/util/workqueue\"\n\nvar Queue wq.RateLimitingInterface = wq.NewNamedRateLimitingQueue(wq.DefaultControllerRateLimiter(), \"a\")\n"
	dir := queueProgram(t, map[string]string{
		"controller/controller.go": controllerBefore,
		// The first file uses a queue but does not import the package; the second is a test.
		"controller/add.go":      "package controller\n\nfunc (c *Controller) Add(key string) { c.queue.AddRateLimited(key) }\n",
		"controller/new_test.go": "package controller\n\nimport (\n\t\"testing\"\n\n\t\"k8s.io/client-go/util/workqueue\"\n)\n\nfunc TestNew(t *testing.T) {\n\tq := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())\n\t(&Controller{queue: q}).Add(\"\")\n}\n",
		"untyped/untyped.go":     untyped,
		"main.go":                "package main\n\nimport (\n\t_ \"example.com/library\"\n\t_ \"golang.org/x/time/rate\"\n\t\"k8s.io/client-go/tools/cache\"\n)\n\nfunc main() { cache.NewStore() }\n",
	})
	before := snapshot(t, dir)
	shown, err := kinformMigrate(t, "--imports", "--dry-run", dir)
	require.NoError(t, err, shown)
	require.Equal(t, before, snapshot(t, dir), "a dry run changes nothing")

	out, err := kinformMigrate(t, "--imports", dir)
	require.NoError(t, err, out)
	require.Equal(t, controllerAfter, read(t, dir, "controller/controller.go"))
	require.Equal(t, "package controller\n\nfunc (c *Controller) Add(key string) { c.queue.Retry(key) }\n", read(t, dir, "controller/add.go"))
	require.Contains(t, read(t, dir, "controller/new_test.go"), "q := workqueue.New(workqueue.Options[string]{RateLimiter: workqueue.DefaultRateLimiter[string]()})")
	require.Equal(t, "package untyped\n\nimport wq \"github.com/kinform/kinform/workqueue\"\n\nvar Queue *wq.Queue[any] = wq.New(wq.Options[any]{Name: \"a\", RateLimiter: wq.DefaultRateLimiter[any]()})\n",
		read(t, dir, "untyped/untyped.go"))
	require.Contains(t, read(t, dir, "go.mod"), "github.com/kinform/kinform v0.1.0")
	require.Contains(t, out, "main.go:6: import of k8s.io/client-go/tools/cache\n    by hand: informer.New")
	require.NotContains(t, out, "do not compile")

	// The diff that the dry run prints equals the changes of the real run.
	after := snapshot(t, dir)
	for name, text := range before {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	diff, _, _ := strings.Cut(shown, "main.go:6")
	patched := exec.CommandContext(t.Context(), "git", "apply", "-p1")
	patched.Dir, patched.Stdin = dir, strings.NewReader(diff)
	if said, err := patched.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, said, diff)
	}
	delete(after, "go.sum") // not part of the diff
	for name, text := range after {
		require.Equal(t, text, read(t, dir, name), name)
	}

	out, err = kinformMigrate(t, "--imports", dir)
	require.NoError(t, err, out)
	require.Contains(t, out, "no import that rules can replace", "a second time")
}

// snapshot returns the files of a folder.
func snapshot(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(dir, path)
			files[name] = read(t, dir, name)
		}
		return err
	}))
	return files
}

func TestWhatNoRuleExchangesStaysAndIsListed(t *testing.T) {
	queueReleases(t)
	const head = "import \"k8s.io/client-go/util/workqueue\"\n\n"
	dir := queueProgram(t, map[string]string{
		"asks/asks.go":     "package asks\n\n" + head + "func Ends(q workqueue.TypedInterface[string]) bool { return q.ShuttingDown() }\n",
		"all/all.go":       "package all\n\n" + head + "func Do() { workqueue.ParallelizeUntil() }\n",
		"clock/clock.go":   "package clock\n\n" + head + "var Queue = workqueue.NewTypedRateLimitingQueueWithConfig(nil, workqueue.TypedRateLimitingQueueConfig[string]{\n\tName:  \"a\",\n\tClock: 1,\n})\n",
		"says/says.go":     "package says\n\n" + head + "var Queue = workqueue.NewTypedRateLimitingQueueWithConfig(\n\tnil, // a comment\n\tworkqueue.TypedRateLimitingQueueConfig[string]{Name: \"a\"},\n)\n",
		"keeps/keeps.go":   "package keeps\n\n" + head + "func Next(q workqueue.TypedInterface[string]) (quit bool) {\n\t_, quit = q.Get()\n\treturn quit\n}\n",
		"gives/gives.go":   "package gives\n\nimport (\n\t\"example.com/library\"\n\t\"k8s.io/client-go/util/workqueue\"\n)\n\nfunc Do(q workqueue.TypedRateLimitingInterface[string]) { library.Work(q) }\n",
		"made/made.go":     "// Code generated by hand. DO NOT EDIT.\n\npackage made\n\n" + head + "var Queue workqueue.TypedInterface[string]\n",
		"other/other.go":   "package other\n\n" + head + "var Queue workqueue.TypedInterface[string]\n",
		"other/x_plan9.go": "package other\n\n" + head + "var Another workqueue.TypedInterface[string]\n",
		"good/good.go":     "package good\n\n" + head + "var Queue workqueue.TypedInterface[string]\n",
		"main.go":          "package main\n\nimport _ \"golang.org/x/time/rate\"\n\nfunc main() {}\n",
	})
	before := snapshot(t, dir)
	out, err := kinformMigrate(t, "--imports", dir)
	require.NoError(t, err, out)
	for _, line := range []string{
		`asks/asks\.go:5: ShuttingDown\n +kinform's queue has no such method`,
		`all/all\.go:5: workqueue\.ParallelizeUntil\n .*errgroup`,
		`clock/clock\.go:7: workqueue\.NewTypedRateLimitingQueueWithConfig\n +only Name of the config has a counterpart`,
		`says/says\.go:5: workqueue\.NewTypedRateLimitingQueueWithConfig\n`,
		`keeps/keeps\.go:6: Get\n +kinform's Get takes a context`,
		`gives/gives\.go:8: cannot use q .*\n +the package does not compile with kinform's queue: replace client-go's queue by hand`,
		`made/made\.go:1: a generated file uses client-go's queues\n`,
		`other/x_plan9\.go: the file uses client-go's queues and is not compiled on this system\n`,
	} {
		require.Regexp(t, line, out)
	}
	after := snapshot(t, dir)
	require.Contains(t, after["good/good.go"], kinformQueue)
	for name, text := range before {
		if name != "good/good.go" && filepath.Ext(name) == ".go" {
			require.Equal(t, text, after[name], name)
		}
	}
}

// kinform requires a newer k8s.io/api, with which an older client-go may not compile.
func TestExchangingWithAnOlderClientGoSaysWhyNothingCompiles(t *testing.T) {
	p := queueReleases(t)
	p.release("k8s.io/api", "v0.36.0", "module k8s.io/api\n\ngo 1.24\n", map[string]string{"old/old.go": "package old\n"})
	p.release("k8s.io/api", "v0.37.2", "module k8s.io/api\n\ngo 1.24\n", map[string]string{"core/core.go": "package core\n"})
	p.release(clientGo, "v0.36.0", "module k8s.io/client-go\n\ngo 1.24\n\nrequire (\n\tgolang.org/x/time v0.15.0\n\tk8s.io/api v0.36.0\n)\n", map[string]string{
		"util/workqueue/queue.go": theirQueues, "informers/informers.go": "package informers\n\nimport _ \"k8s.io/api/old\"\n",
	})
	p.release(kinform, "v0.1.0", "module github.com/kinform/kinform\n\ngo 1.24\n\nrequire k8s.io/api v0.37.2\n", map[string]string{"workqueue/queue.go": ourQueues})
	dir := program(t, map[string]string{
		"main.go": "package main\n\nimport (\n\t_ \"k8s.io/client-go/informers\"\n\t\"k8s.io/client-go/util/workqueue\"\n)\n\nvar q workqueue.TypedInterface[string]\n\nfunc main() {}\n",
	})
	goCommand(t, dir, "mod", "edit", "-require="+clientGo+"@v0.36.0")
	goCommand(t, dir, "mod", "tidy")
	out, err := kinformMigrate(t, "--imports", dir)
	require.NoError(t, err, out)
	require.Contains(t, out, "requires client-go v0.36.0, but kinform has the names of v0.37")
	require.Regexp(t, `informers\.go:3 .*k8s\.io/api/old.*\n +a library needs this: take a version of the library that was made for client-go v0\.37`, out)
}

func TestExchangingFailsWithoutATrace(t *testing.T) {
	queueReleases(t)
	dir := queueProgram(t, map[string]string{"main.go": "package main\n\nimport \"k8s.io/client-go/util/workqueue\"\n\nvar q workqueue.TypedInterface[string]\n\nfunc main() { workqueue.DefaultControllerRateLimiter() }\n"})
	before := snapshot(t, dir)
	_, err := kinformMigrate(t, "--imports", "--version", "v9.9.9", dir)
	require.ErrorContains(t, err, "v9.9.9")
	require.Equal(t, before, snapshot(t, dir))
	_, err = kinformMigrate(t, "--imports", "--undo", dir)
	require.ErrorContains(t, err, "exclude each other")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "broken.go"), []byte("package main\n\nvar x int = \"\"\n"), 0o644))
	before = snapshot(t, dir)
	_, err = kinformMigrate(t, "--imports", dir)
	require.ErrorContains(t, err, "must compile before")
	require.Equal(t, before, snapshot(t, dir))
}

func TestFilesAreWrittenAllOrNone(t *testing.T) {
	dir := t.TempDir()
	m := &module{dir: dir, file: filepath.Join(dir, "go.mod")}
	require.NoError(t, os.WriteFile(m.file, []byte("module a\n"), 0o644))
	a := filepath.Join(dir, "a.go")
	require.NoError(t, os.WriteFile(a, []byte("before"), 0o600))
	r := &trial{&draft{m: m, dir: t.TempDir()}}
	files := []changedFile{
		{source: &source{path: a, text: []byte("before")}, after: []byte("after")},
		{source: &source{path: filepath.Join(dir, "no folder", "b.go")}, after: []byte("after")},
	}
	require.Error(t, r.write(files))
	require.Equal(t, map[string]string{"a.go": "before", "go.mod": "module a\n"}, snapshot(t, dir))
	info, err := os.Stat(a)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
