// Command table uses client-go's fakes as tests of programs do. It prints the result of each
// operation, and the recorded actions. The test in the parent folder builds it with client-go and
// with module clientgo, and compares the outputs.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	fakes "k8s.io/client-go/testing"
)

// clientset makes one of the two fake clientsets.
type clientset func(objects ...runtime.Object) *fake.Clientset

func main() {
	for _, side := range []struct {
		name string
		new  clientset
	}{{"NewSimpleClientset", fake.NewSimpleClientset}, {"NewClientset", fake.NewClientset}} {
		fmt.Println("#", side.name)
		testVerbs(side.new)
		testPatches(side.new)
		testLists(side.new)
		testSubresources(side.new)
		testExpansions(side.new)
		testReactors(side.new)
		testWatches(side.new)
		testTrackers(side.new)
		testInformers(side.new)
	}
	fmt.Println("# dynamic and metadata")
	testDynamicClient()
	testMetadataClient()
}

var ctx = context.Background()

// printRow calls the operation do on a fake, and prints a row with the result and the recorded
// actions.
func printRow(name string, fake *fakes.Fake, do func() (any, error)) {
	before := 0
	if fake != nil {
		before = len(fake.Actions())
	}
	result, panicked, err := attempt(do)
	fmt.Printf("%s\n  answer: %s\n", name, text(result))
	if panicked != "" {
		fmt.Printf("  panic: %s\n", panicked)
	}
	if err != nil {
		fmt.Printf("  error: %T %v\n", err, err)
		if status := apierrors.APIStatus(nil); errors.As(err, &status) {
			fmt.Printf("  status: %s\n", text(status.Status()))
		}
	}
	if fake == nil {
		return
	}
	for _, action := range fake.Actions()[min(before, len(fake.Actions())):] {
		fmt.Printf("  recorded: %s\n", describe(action))
	}
}

func attempt(do func() (any, error)) (result any, panicked string, err error) {
	defer func() {
		if p := recover(); p != nil {
			panicked = fmt.Sprint(p)
		}
	}()
	result, err = do()
	return result, "", err
}

// withoutError adapts the result of an operation that returns no error.
func withoutError(result any) (any, error) { return result, nil }

// onlyError adapts the result of an operation that returns only an error.
func onlyError(err error) (any, error) { return nil, err }

// times matches the timestamps of managed fields.
var times = regexp.MustCompile(`"time":"[^"]*"`)

func text(v any) string {
	encoded, err := json.Marshal(v)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return fmt.Sprintf("%T", v)
	}
	return fmt.Sprintf("%T %s", v, times.ReplaceAll(encoded, []byte(`"time":"..."`)))
}

// describe returns everything that is recorded about an action.
func describe(action fakes.Action) string {
	s := fmt.Sprintf("%T %s %s/%s in %q: ", action, action.GetVerb(), action.GetResource(), action.GetSubresource(), action.GetNamespace())
	switch a := action.(type) {
	case fakes.ListActionImpl:
		return s + fmt.Sprintf("%s %q %s %s %s", a.Kind, a.Name, a.ListRestrictions.Labels, a.ListRestrictions.Fields, text(a.ListOptions))
	case fakes.WatchActionImpl:
		return s + fmt.Sprintf("%s %s %q %s", a.WatchRestrictions.Labels, a.WatchRestrictions.Fields, a.WatchRestrictions.ResourceVersion, text(a.ListOptions))
	case fakes.DeleteCollectionActionImpl:
		return s + fmt.Sprintf("%s %s %s %s", a.ListRestrictions.Labels, a.ListRestrictions.Fields, text(a.DeleteOptions), text(a.ListOptions))
	case fakes.PatchActionImpl:
		return s + fmt.Sprintf("%q %s %s %s", a.Name, a.PatchType, a.Patch, text(a.PatchOptions))
	default:
		return s + text(action)
	}
}
