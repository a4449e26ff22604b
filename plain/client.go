// The client. A Kubernetes API server answers two questions about a collection, such as all pods.
// "What is there now?" is a list: a JSON object with the items and one resourceVersion. This
// version is the number of writes that the server's database had counted at that moment. "What has
// changed since?" is a watch: a response that stays open. When a change happens, the server sends
// one JSON object for it, in one HTTP chunk. With a list and a watch, a client keeps a copy up to
// date: list once, then watch from the list's version.

package plain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Client lists and watches one collection. T is a pointer to a Go type of Kubernetes, such as
// *corev1.Pod.
type Client[T metav1.Object] struct {
	// HTTP makes the requests, and adds the program's credentials.
	HTTP *http.Client

	// URL is the URL of the collection, such as http://127.0.0.1:8001/api/v1/pods.
	URL string

	// UserAgent names the program in the server's logs.
	UserAgent string
}

// List returns the objects that exist, and the version of that state. The argument is the oldest
// acceptable version: "0" accepts any state that the server has in memory, and "" requests the
// newest state.
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
	if slices.ContainsFunc(list.Items, isNull) {
		return nil, "", fmt.Errorf("list %s: an item is null", c.URL)
	}
	return list.Items, list.ResourceVersion, nil
}

// Change is one event of a watch. Type is ADDED, MODIFIED, DELETED or BOOKMARK. The object of a
// BOOKMARK has only a version, up to which the server has sent every change.
type Change[T metav1.Object] struct {
	Type   string
	Object T
}

// Watch requests the changes after a version, and calls changed for each of them, one after
// another. It returns nil when the server ends the response normally, after about this many
// seconds. Every other end is an error, including the end of ctx and an error of changed.
func (c *Client[T]) Watch(ctx context.Context, version string, seconds int, changed func(Change[T]) error) error {
	body, err := c.get(ctx, url.Values{
		"watch": {"true"}, "allowWatchBookmarks": {"true"},
		"resourceVersion": {version}, "timeoutSeconds": {fmt.Sprint(seconds)},
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", c.URL, err)
	}
	defer body.Close()
	decoder := json.NewDecoder(body)
	for {
		change, err := next[T](decoder)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := changed(change); err != nil {
			return err
		}
	}
}

// next waits for the next event of a watch.
func next[T metav1.Object](decoder *json.Decoder) (change Change[T], err error) {
	var event struct {
		Type   string
		Object json.RawMessage
	}
	if err := decoder.Decode(&event); err != nil {
		return change, err
	}
	if event.Type == "ERROR" { // the server failed after it sent 200 OK, so the failure is an event
		var status metav1.Status
		if err := json.Unmarshal(event.Object, &status); err != nil {
			return change, err
		}
		return change, apierrors.FromObject(&status)
	}
	change.Type = event.Type
	if err = json.Unmarshal(event.Object, &change.Object); err == nil && isNull(change.Object) {
		err = fmt.Errorf("the object of an event of type %q is null", change.Type)
	}
	return change, err
}

// isNull reports whether the server has sent null in place of an object.
func isNull[T metav1.Object](object T) bool {
	var none T
	return any(object) == any(none)
}

// get returns the body of a successful response. The body of a failed response is a metav1.Status,
// which becomes the error.
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

// Packages listwatch and rest do more than this file, for these reasons:
//
//   - They decode the items of a list one by one as bytes arrive, on several cores. This client
//     reads the whole list into memory, and then decodes it with encoding/json. Decoding takes most
//     of the time of a first sync.
//   - They use protobuf for built-in types: a third of the bytes, and a fraction of the work.
//   - They recognise objects that have not changed since the last list by their bytes, and do not
//     decode them.
//   - They limit every decode by a budget. Here, the client reads an object of any size.
//   - They report an undecodable object as one error with a key, and go on with the other objects.
//     Here, an undecodable object makes the whole list fail.
//   - They support pages, streaming lists, compression, renewed credentials, proxies and kubeconfig
//     files, as clusters need them.
