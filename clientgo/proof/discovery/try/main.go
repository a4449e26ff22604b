// Command try sends discovery requests to many kinds of servers, and prints the results of the
// clients. It is built twice: with client-go and with clientgo. A line without a tab names a case.
// The lines after it are the results of the case.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

var out = bufio.NewWriter(os.Stdout)

func main() {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	defer func() { _ = out.Flush() }()
	tryClients()
	tryFakes()
	tryMappers()
	tryScales()
}

// block prints the name of a case and runs it. A panic is a part of the case's result.
func block(name string, fn func()) {
	fmt.Fprintln(out, name)
	defer func() {
		if r := recover(); r != nil {
			line("panic")
		}
	}()
	fn()
}

// line prints a result in one line.
func line(parts ...any) {
	text := fmt.Sprintln(parts...)
	fmt.Fprintln(out, "\t"+strings.ReplaceAll(strings.TrimSpace(text), "\n", " | "))
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// inOrder prints lists in a fixed order, because the order of some of client-go's lists is random.
func inOrder(lists []*metav1.APIResourceList) string {
	var all []string
	for _, list := range lists {
		sorted := *list
		sorted.APIResources = slices.Clone(list.APIResources)
		slices.SortFunc(sorted.APIResources, func(a, b metav1.APIResource) int { return strings.Compare(a.Name, b.Name) })
		all = append(all, text(sorted))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// kindOf returns the properties of an error, other than its text, that programs test for.
func kindOf(err error) string {
	if err == nil {
		return "no error"
	}
	kind := fmt.Sprintf("%T", err)
	if strings.HasPrefix(kind, "*errors.errorString") || strings.HasPrefix(kind, "*fmt.") {
		kind = "error"
	}
	return kind + " " + err.Error()
}
