// The client. A Kubernetes API server answers two questions about a collection, such as all pods. "What is
// there now?" is a list: a JSON object with the items and one resourceVersion, the server's clock at that
// moment. "What has changed since?" is a watch: an answer that does not end, in which each change is a JSON
// object of its own, sent in one chunk of HTTP when it happens. Together they make a copy that stays true:
// list once, then watch from the list's version.

package plain

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Client lists and watches one collection. T is a pointer to a type of Kubernetes, such as *corev1.Pod.
type Client[T metav1.Object] struct {
	// HTTP makes the requests, with whatever proves to the server who is asking.
	HTTP *http.Client

	// URL is the collection's, such as http://127.0.0.1:8001/api/v1/pods.
	URL string

	// UserAgent names the program in the server's logs.
	UserAgent string
}

// List returns what exists, and the version of that state. It asks for a state that is not older than a
// version: "0" for any that the server has at hand, "" for the newest that there is.
func (c *Client[T]) List(ctx context.Context, version string) (items []T, listed string, err error) {
	body, err := c.get(ctx, url.Values{"resourceVersion": {version}})
	if err != nil {
		return nil, "", fmt.Errorf("list %s: %w", c.URL, err)
	}
	defer body.Close()
	var list struct {
		metav1.ListMeta `json:"metadata"`
		Items           []T
	}
	if err := json.NewDecoder(body).Decode(&list); err != nil {
		return nil, "", fmt.Errorf("list %s: %w", c.URL, err)
	}
	if slices.ContainsFunc(list.Items, missing) {
		return nil, "", fmt.Errorf("list %s: an item is null", c.URL)
	}
	return list.Items, list.ResourceVersion, nil
}

// Watch opens the stream of the changes after a version. The stream ends with ctx, or when the server ends
// it, which it does after about so many seconds.
func (c *Client[T]) Watch(ctx context.Context, version string, seconds int) (*Watch[T], error) {
	body, err := c.get(ctx, url.Values{
		"watch": {"true"}, "allowWatchBookmarks": {"true"},
		"resourceVersion": {version}, "timeoutSeconds": {fmt.Sprint(seconds)},
	})
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", c.URL, err)
	}
	return &Watch[T]{body: body, decoder: json.NewDecoder(body)}, nil
}

// get returns the body of a good answer. The body of a bad one is a metav1.Status, which becomes the error.
func (c *Client[T]) get(ctx context.Context, query url.Values) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", c.UserAgent)
	response, err := c.HTTP.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer response.Body.Close()
	var status metav1.Status
	if err := json.NewDecoder(response.Body).Decode(&status); err != nil || status.Status != metav1.StatusFailure {
		return nil, fmt.Errorf("the server answered %s", response.Status)
	}
	return nil, apierrors.FromObject(&status)
}

// Watch is a stream of changes. It has one reader.
type Watch[T metav1.Object] struct {
	body    io.ReadCloser
	decoder *json.Decoder
}

// Change is one event of a watch. Type is ADDED, MODIFIED, DELETED, or BOOKMARK: that one has an object with
// nothing but a version, and says that everything up to there has been sent.
type Change[T metav1.Object] struct {
	Type   string
	Object T
}

// Next waits for the next change. It returns io.EOF when the server ended the stream in good order.
func (w *Watch[T]) Next() (change Change[T], err error) {
	var event struct {
		Type   string
		Object json.RawMessage
	}
	if err := w.decoder.Decode(&event); err != nil {
		return change, err
	}
	if event.Type == "ERROR" { // The answer had begun with 200 OK, so the failure is an event.
		var status metav1.Status
		if err := json.Unmarshal(event.Object, &status); err != nil {
			return change, err
		}
		return change, apierrors.FromObject(&status)
	}
	change.Type = event.Type
	if err := json.Unmarshal(event.Object, &change.Object); err != nil {
		return change, err
	}
	if missing(change.Object) {
		return change, fmt.Errorf("the object of an event of type %q is null", change.Type)
	}
	return change, nil
}

// missing says that there is no object: a server may send null for one.
func missing[T metav1.Object](object T) bool {
	var none T
	return any(object) == any(none)
}

// Close gives the connection back.
func (w *Watch[T]) Close() error { return w.body.Close() }

// What packages listwatch and rest do beyond this:
//
//   - Items of a list are decoded one by one as bytes arrive, on several cores. This client holds the body's
//     objects and decodes with encoding/json, which is most of the time that a first sync takes here.
//   - Protobuf for built-in types: a third of the bytes, and a fraction of the work.
//   - Objects that have not changed since the last list are recognised in their bytes, and not decoded again.
//   - Every decode has a budget. Here, a server may send one object of any size, and it is read.
//   - An object that cannot be decoded is one error with a key, and the stream goes on. Here, it ends the
//     list.
//   - Pages, streaming lists, compression, credentials that are renewed, proxies, kubeconfig files.
