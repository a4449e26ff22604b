package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// load sets the order in the spec of widgets, over plain HTTP like any client.
type load struct {
	address string
	objects int
	order   int // the last order
	http    http.Client
}

// clients is the maximum number of concurrent requests.
const clients = 8

const (
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	widgets     = "/apis/bench.example.com/v1/namespaces/default/widgets"
	configMaps  = "/api/v1/namespaces/default/configmaps"
	nameHeader  = "Bench-Name"
)

const definition = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.bench.example.com"},
"spec": {"group": "bench.example.com", "scope": "Namespaced", "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
"versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": {"type": "object", "properties": {
"spec": {"type": "object", "properties": {"order": {"type": "integer", "format": "int64"}, "shelf": {"type": "string"}}},
"status": {"type": "object", "properties": {"order": {"type": "integer", "format": "int64"}}}}}}}]}}`

func newLoad(address string, objects int) *load {
	l := &load{address: address, objects: objects}
	l.http.Transport = &http.Transport{MaxIdleConnsPerHost: clients}
	return l
}

func (l *load) close() { l.http.CloseIdleConnections() }

// statusError is a response with an error status.
type statusError struct {
	code int
	text string
}

// Error implements error.
func (f statusError) Error() string { return f.text }

// send sends a request, and decodes the response into into, which may be nil.
func (l *load) send(ctx context.Context, method, path, name, contentType, body string, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, l.address+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	r.Header.Set("User-Agent", loadAgent)
	r.Header.Set("Content-Type", contentType)
	if name != "" {
		r.Header.Set(nameHeader, name)
	}
	response, err := l.http.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return statusError{response.StatusCode, fmt.Sprintf("%s %s: %s: %.300s", method, path, response.Status, data)}
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(data, into)
}

func widgetName(n int) string { return fmt.Sprintf("widget-%05d", n) }

// create creates the CustomResourceDefinition, and all widgets with their first order.
func (l *load) create(ctx context.Context) error {
	err := l.send(ctx, http.MethodPost, definitions, "", "application/json", definition, nil)
	if refused := (statusError{}); errors.As(err, &refused) && refused.code == http.StatusConflict {
		err = nil // it exists already
	}
	if err != nil {
		return err
	}
	if err := until(ctx, func() (bool, error) { return l.send(ctx, http.MethodGet, widgets, "", "", "", nil) == nil, nil }); err != nil {
		return err
	}
	for _, path := range []string{widgets, configMaps} {
		// a server that is not restarted may still have objects of an earlier round
		if err := l.send(ctx, http.MethodDelete, path, "", "", "", nil); err != nil {
			return err
		}
	}
	l.order++
	return l.all(ctx, func(n int) error {
		name := widgetName(n)
		body := fmt.Sprintf(`{"apiVersion": "bench.example.com/v1", "kind": "Widget", "metadata": {"name": %q}, "spec": {"order": %d, "shelf": "shelf-%d"}}`, name, l.order, n%100)
		return l.send(ctx, http.MethodPost, widgets, name, "application/json", body, nil)
	})
}

// change sets the order of a widget.
func (l *load) change(ctx context.Context, n, order int) error {
	name := widgetName(n)
	return l.send(ctx, http.MethodPatch, widgets+"/"+name, "", "application/merge-patch+json", fmt.Sprintf(`{"spec": {"order": %d}}`, order), nil)
}

// changeAll sets the order of each widget, as fast as the server accepts the changes.
func (l *load) changeAll(ctx context.Context) error {
	l.order++
	return l.all(ctx, func(n int) error { return l.change(ctx, n, l.order) })
}

// all calls do for each widget, with several calls at a time.
func (l *load) all(ctx context.Context, do func(n int) error) error {
	numbers := make(chan int)
	var running sync.WaitGroup
	failures := make([]error, clients)
	for c := range clients {
		running.Go(func() {
			for n := range numbers {
				if failures[c] == nil {
					failures[c] = do(n)
				}
			}
		})
	}
	for n := range l.objects {
		if ctx.Err() != nil {
			break
		}
		numbers <- n
	}
	close(numbers)
	running.Wait()
	return errors.Join(errors.Join(failures...), ctx.Err())
}

// sendEvenly sets orders at an even rate, until more returns false. It changes every widget once
// before it changes any widget again.
func (l *load) sendEvenly(ctx context.Context, rate int, more func() bool) (changes int, err error) {
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	slots := make(chan struct{}, clients)
	var running sync.WaitGroup
	var mu sync.Mutex   // guards err
	const stride = 7919 // a prime
	for ; more(); changes++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			running.Wait()
			return changes, ctx.Err()
		}
		l.order++
		n, order := changes*stride%l.objects, l.order
		slots <- struct{}{}
		running.Go(func() {
			failed := l.change(ctx, n, order)
			<-slots
			mu.Lock()
			defer mu.Unlock()
			err = errors.Join(err, failed)
		})
	}
	running.Wait()
	return changes, err
}

// requestCounts requests the counts of the proxy.
func (l *load) requestCounts(ctx context.Context, path string) (p requestCounts, err error) {
	return p, l.send(ctx, http.MethodGet, path, "", "", "", &p)
}

// check returns an error unless each widget has a ConfigMap and a status with its last order.
func (l *load) check(ctx context.Context) error {
	var all, owned struct {
		Items []struct {
			Metadata     struct{ Name string }
			Spec, Status struct{ Order int }
			Data         struct{ Order string }
		}
	}
	if err := l.send(ctx, http.MethodGet, widgets, "", "", "", &all); err != nil {
		return err
	}
	if err := l.send(ctx, http.MethodGet, configMaps, "", "", "", &owned); err != nil {
		return err
	}
	orders := map[string]string{}
	for _, item := range owned.Items {
		orders[item.Metadata.Name] = item.Data.Order
	}
	for _, item := range all.Items {
		if want := fmt.Sprint(item.Spec.Order); item.Status.Order != item.Spec.Order || orders[item.Metadata.Name] != want {
			return fmt.Errorf("%s has order %s, but the status has %d, and the ConfigMap %q", item.Metadata.Name, want, item.Status.Order, orders[item.Metadata.Name])
		}
	}
	if len(all.Items) != l.objects {
		return fmt.Errorf("there are %d widgets instead of %d", len(all.Items), l.objects)
	}
	return nil
}

// until polls done until it returns true or an error.
func until(ctx context.Context, done func() (bool, error)) error {
	for {
		yes, err := done()
		if yes || err != nil {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
