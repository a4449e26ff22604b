// Command raw reads the server's responses and discards them. Its time is a lower bound for every
// client of package sync on this machine.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/bench/internal/subject"
)

func main() {
	subject.Main(func(task subject.Task) (subject.Informer, error) {
		return &reader{task: task, synced: make(chan struct{})}, nil
	})
}

type reader struct {
	task   subject.Task
	synced chan struct{}
}

// Run implements subject.Informer.
func (r *reader) Run(ctx context.Context) error {
	err := r.run(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (r *reader) run(ctx context.Context) error {
	if err := r.list(ctx); err != nil {
		return err
	}
	close(r.synced)
	version, err := r.version(ctx)
	if err != nil {
		return err
	}
	body, err := r.get(ctx, r.task.Encoding, "watch=true&resourceVersion="+version)
	if err != nil {
		return err
	}
	defer body.Close()
	return r.frames(body, r.task.Updated)
}

// list reads all lists.
func (r *reader) list(ctx context.Context) error {
	body, err := r.get(ctx, r.task.Encoding, "resourceVersion=0")
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(io.Discard, body)
	return err
}

// version returns the version to watch from.
func (r *reader) version(ctx context.Context) (string, error) {
	body, err := r.get(ctx, subject.JSON, "limit=1")
	if err != nil {
		return "", err
	}
	defer body.Close()
	var list metav1.PartialObjectMetadataList
	err = json.NewDecoder(body).Decode(&list)
	return list.ResourceVersion, err
}

func (r *reader) get(ctx context.Context, encoding, query string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.task.URL+"/api/v1/pods?"+query, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", r.task.Name)
	req.Header.Set("Accept", "application/json")
	if encoding == subject.Protobuf {
		req.Header.Set("Accept", "application/vnd.kubernetes.protobuf")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("GET %s: %s", req.URL, resp.Status)
	}
	return resp.Body, nil
}

// frames calls one after each event of a watch.
func (r *reader) frames(body io.Reader, one func()) error {
	in := bufio.NewReaderSize(body, 256<<10)
	for {
		if err := r.skip(in); err != nil {
			return err
		}
		one()
	}
}

// skip reads past an event: a line, or a length and as many bytes.
func (r *reader) skip(in *bufio.Reader) error {
	if r.task.Encoding == subject.JSON {
		_, err := in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		return err
	}
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return err
	}
	_, err := in.Discard(int(binary.BigEndian.Uint32(length[:])))
	return err
}

// Synced implements subject.Informer.
func (r *reader) Synced() <-chan struct{} { return r.synced }

// Len implements subject.Informer. A reader keeps no objects.
func (r *reader) Len() int { return 0 }

// ResourceVersion implements subject.Informer.
func (r *reader) ResourceVersion() string { return "" }
