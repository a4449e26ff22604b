package disk

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

func typeMeta(kind string) metav1.TypeMeta { return metav1.TypeMeta{Kind: kind, APIVersion: "v1"} }

// file returns the name of a file of a group version. It returns false if the group version is not
// valid. The group version may come from the server, and must not lead to another directory.
func (d *CachedDiscoveryClient) file(groupVersion, name string) (string, bool) {
	for segment := range strings.SplitSeq(groupVersion, "/") {
		if segment == "." || segment == ".." || strings.ContainsAny(segment, "\\:\x00") || segment == "" && groupVersion != "" {
			return "", false
		}
	}
	return filepath.Join(d.directory, filepath.FromSlash(groupVersion), name), true
}

// read decodes a valid cache file into a document of the given kind. The result found reports
// whether there was such a file. The result since is the number of invalidations so far. The caller
// passes this number to write, together with the document from the server.
func (d *CachedDiscoveryClient) read(name, kind string, into any, is *metav1.TypeMeta) (found bool, since int) {
	d.mu.Lock()
	_, ours := d.written[name]
	since = d.generation
	d.mu.Unlock()
	if !ours && since > 0 || !d.decode(name, kind, into, is) {
		return false, since
	}
	if ours {
		return true, since
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.generation > 0 {
		return false, d.generation // invalidated in the meantime
	}
	d.foreign = true
	return true, since
}

// decode decodes a file that is not older than the TTL.
func (d *CachedDiscoveryClient) decode(name, kind string, into any, is *metav1.TypeMeta) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()).Abs() > d.ttl {
		return false
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	return err == nil && json.Unmarshal(data, into) == nil && *is == typeMeta(kind)
}

// write stores a document, unless the client was invalidated after the call of read that returned
// this generation. If write fails, it logs the error, and the document is requested again.
func (d *CachedDiscoveryClient) write(ctx context.Context, name string, generation int, document any) {
	data, err := json.Marshal(document)
	if err == nil {
		err = d.writeSince(name, generation, data)
	}
	if err != nil {
		klog.FromContext(ctx).V(1).Info("Failed to write a file of the discovery cache", "file", name, "err", err)
	}
}

// writeSince holds the lock while it writes, so that an older document cannot replace a newer
// document.
func (d *CachedDiscoveryClient) writeSince(name string, generation int, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.generation != generation {
		return nil
	}
	if err := writeFile(name, data, []byte("\n")); err != nil {
		return err
	}
	d.written[name] = struct{}{}
	return nil
}
