package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const protobufType = "application/vnd.kubernetes.protobuf"

// server sends the same response to each request, and records the requests.
type server struct {
	*httptest.Server
	mu       sync.Mutex // guards following
	requests []string
	handler  func(w http.ResponseWriter, r *http.Request)
}

func serve() *server {
	s := &server{}
	s.Server = httptest.NewServer(s)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	handler := s.handler
	s.requests = append(s.requests, strings.TrimSpace(fmt.Sprint(r.Method, " ", r.URL.RequestURI(), " ", r.Header.Get("Accept"), " ", r.Header.Get("Content-Type"), " ", short(body))))
	s.mu.Unlock()
	handler(w, r)
}

// setHandler sets the response to requests, and drops the recorded requests.
func (s *server) setHandler(handler http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler, s.requests = handler, nil
}

// requestLog returns the recorded requests. If several goroutines have sent them, the caller sets
// sorted.
func (s *server) requestLog(sorted bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := slices.Clone(s.requests)
	if sorted {
		slices.Sort(requests)
	}
	return requests
}

// short returns a text body, or the checksum of a binary body.
func short(body []byte) string {
	if bytes.HasPrefix(body, []byte("k8s\x00")) {
		return fmt.Sprintf("%d bytes %x", len(body), sha256.Sum256(body))
	}
	return string(body)
}

// groups maps folders of k8s.io/api to the names of their groups. It has only the folders whose
// names differ from the group's name.
var groups = map[string]string{
	"core": "", "admissionregistration": "admissionregistration.k8s.io", "apiserverinternal": "internal.apiserver.k8s.io",
	"authentication": "authentication.k8s.io", "authorization": "authorization.k8s.io", "certificates": "certificates.k8s.io",
	"coordination": "coordination.k8s.io", "discovery": "discovery.k8s.io", "events": "events.k8s.io",
	"flowcontrol": "flowcontrol.apiserver.k8s.io", "networking": "networking.k8s.io", "node": "node.k8s.io",
	"rbac": "rbac.authorization.k8s.io", "resource": "resource.k8s.io", "scheduling": "scheduling.k8s.io", "storage": "storage.k8s.io",
	"storagemigration": "storagemigration.k8s.io", "imagepolicy": "imagepolicy.k8s.io", "lifecycle": "lifecycle.k8s.io",
}

// kindOfType returns the kind of a type of k8s.io/api, derived from its folder.
func kindOfType(pointer reflect.Type) schema.GroupVersionKind {
	t := pointer.Elem()
	parts := strings.Split(t.PkgPath(), "/")
	group, version := parts[len(parts)-2], parts[len(parts)-1]
	if strings.HasPrefix(t.Name(), "PartialObjectMetadata") {
		return metav1.SchemeGroupVersion.WithKind(t.Name())
	}
	if group == "meta" {
		return schema.GroupVersionKind{Version: "v1", Kind: t.Name()}
	}
	if name, ok := groups[group]; ok {
		group = name
	}
	return schema.GroupVersionKind{Group: group, Version: version, Kind: t.Name()}
}

// encoded encodes an object in the first media type that a request accepts.
func encoded(r *http.Request, o runtime.Object) (data []byte, contentType string) {
	gvk := kindOfType(reflect.TypeOf(o))
	if strings.HasPrefix(r.Header.Get("Accept"), protobufType) {
		raw, err := o.(interface{ Marshal() ([]byte, error) }).Marshal()
		if err != nil {
			panic(err)
		}
		unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind}, Raw: raw}
		data, err := unknown.Marshal()
		if err != nil {
			panic(err)
		}
		return append([]byte("k8s\x00"), data...), protobufType
	}
	o = o.DeepCopyObject()
	o.GetObjectKind().SetGroupVersionKind(gvk)
	data, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return data, "application/json"
}

// objectHandler returns a handler that sends an object.
func objectHandler(code int, o runtime.Object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		data, contentType := encoded(r, o)
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = w.Write(data)
	}
}

// plainTextHandler sends a text that is not JSON.
func plainTextHandler(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "some words\nand more") }

// watchHandler returns a handler that sends a watch. An object is added, modified and deleted; a
// bookmark and an error follow.
func watchHandler(o runtime.Object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status := &metav1.Status{Status: metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired, Message: "too old"}
		for _, e := range []struct {
			kind   string
			object runtime.Object
		}{{"ADDED", o}, {"MODIFIED", o}, {"BOOKMARK", o}, {"DELETED", o}, {"ERROR", status}} {
			data, contentType := encoded(r, e.object)
			if contentType != protobufType {
				w.Header().Set("Content-Type", contentType)
				fmt.Fprintf(w, `{"type":%q,"object":%s}`+"\n", e.kind, data)
				continue
			}
			w.Header().Set("Content-Type", contentType+";stream=watch")
			event := metav1.WatchEvent{Type: e.kind, Object: runtime.RawExtension{Raw: data}}
			frame, err := event.Marshal()
			if err != nil {
				panic(err)
			}
			_, _ = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
		}
	}
}

// failureHandler sends a Status in which every field is set.
func failureHandler(w http.ResponseWriter, r *http.Request) {
	objectHandler(http.StatusUnprocessableEntity, &metav1.Status{Status: metav1.StatusFailure, Code: 422, Reason: metav1.StatusReasonInvalid, Message: "not so",
		Details: &metav1.StatusDetails{Name: "name", Group: "group", Kind: "kind", Causes: []metav1.StatusCause{{Type: "FieldValueInvalid", Message: "m", Field: "f"}}}})(w, r)
}
