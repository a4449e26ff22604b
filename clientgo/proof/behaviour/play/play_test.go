package play

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

var (
	file  = flag.String("trace", "", "the file to write to; nothing is played without it")
	from  = flag.Uint64("from", 1, "the first seed")
	count = flag.Uint64("count", 10, "how many histories of each suite")
)

// suites has the suites. A suite runs one history for a seed.
var suites = []struct {
	name string
	play func(t *testing.T, p *player)
}{
	{"indexer", playIndexer},
	{"threadsafe", playThreadSafe},
	{"expiration", playExpiration},
	{"mutation", playMutation},
	{"heap", playHeap},
	{"fifo", playFIFO},
	{"deltafifo", playDeltaFIFO},
	{"realfifo", playRealFIFO},
	{"workqueue", playWorkqueue},
	{"informer", playInformer},
	{"relist", playRelist},
	{"reflector", playReflector},
	{"controller", playController},
}

func TestPlay(t *testing.T) {
	if *file == "" {
		t.Skip("package behaviour runs this test with -trace")
	}
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	utilruntime.ErrorHandlers = nil
	utilruntime.ReallyCrash = false
	f, err := os.Create(*file)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for _, s := range suites {
		for seed := *from; seed < *from+*count; seed++ {
			p := &player{Rand: rand.New(rand.NewPCG(seed, 1)), w: w, prefix: fmt.Sprintf("%s %d ", s.name, seed)}
			s.play(t, p)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// player runs one history.
type player struct {
	*rand.Rand
	w       io.Writer
	prefix  string
	version int // the version of the newest object
}

// trace writes a line to the trace.
func (p *player) trace(format string, args ...any) {
	line := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ")
	if _, err := fmt.Fprintln(p.w, p.prefix+line); err != nil {
		panic(err)
	}
}

func (p *player) chance(oneIn int) bool { return p.IntN(oneIn) == 0 }

// pod returns one of a few pods, with a new version.
func (p *player) pod() *corev1.Pod {
	p.version++
	name := "p" + strconv.Itoa(p.IntN(4))
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, UID: types.UID("u-" + name), ResourceVersion: strconv.Itoa(p.version),
		Labels: map[string]string{"color": []string{"red", "blue", "none"}[p.IntN(3)], "even": strconv.FormatBool(p.version%2 == 0)},
	}}
}

// anyObject returns a pod, or sometimes a tombstone or an object without a key.
func (p *player) anyObject() any {
	switch p.IntN(20) {
	case 0:
		return "no object"
	case 1:
		pod := p.pod()
		return cache.DeletedFinalStateUnknown{Key: pod.Namespace + "/" + pod.Name, Obj: pod}
	}
	return p.pod()
}

func (p *player) pods(most int) []any {
	list := []any{}
	for range p.IntN(most + 1) {
		list = append(list, p.pod())
	}
	return list
}

// show returns a text that identifies an object.
func show(obj any) string {
	switch o := obj.(type) {
	case nil:
		return "nil"
	case *corev1.Pod:
		if o == nil {
			return "nil pod"
		}
		return o.Name + "@" + o.ResourceVersion + o.Annotations["transformed"]
	case cache.DeletedFinalStateUnknown:
		return "gone(" + o.Key + " " + show(o.Obj) + ")"
	case cache.Deltas:
		var all []string
		for _, d := range o {
			all = append(all, showDelta(d))
		}
		return "[" + strings.Join(all, " ") + "]"
	case cache.ReplacedAllInfo:
		return "all(" + o.ResourceVersion + " " + strings.Join(showAll(o.Objects), " ") + ")"
	case cache.BookmarkInfo:
		return "bookmark(" + o.ResourceVersion + ")"
	case cache.SyncAllInfo:
		return "all again"
	case string:
		return o
	}
	return fmt.Sprintf("%T", obj)
}

func showDelta(d cache.Delta) string { return string(d.Type) + ":" + show(d.Object) }

func showAll(objs []any) []string {
	all := []string{}
	for _, o := range objs {
		all = append(all, show(o))
	}
	return all
}

func sorted(all []string) []string {
	slices.Sort(all)
	return all
}

// kind returns the kind of an error. It does not return the text, which has addresses that differ
// between runs.
func kind(err error) string {
	switch err := err.(type) {
	case nil:
		return "ok"
	case cache.KeyError:
		return "KeyError(" + err.Err.Error() + ")"
	case *cache.TransactionError:
		return fmt.Sprintf("TransactionError(%v of %d, %d errors)", err.SuccessfulIndices, err.TotalTransactions, len(err.Errors))
	}
	return err.Error()
}

// transformed is a transform with a visible effect, which sometimes fails.
func transformed(obj any) (any, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	if strings.HasSuffix(pod.ResourceVersion, "9") && pod.Annotations == nil {
		return nil, fmt.Errorf("no transform of %s", show(pod))
	}
	pod = pod.DeepCopy()
	pod.Annotations = map[string]string{"transformed": pod.Annotations["transformed"] + "'"}
	return pod, nil
}
