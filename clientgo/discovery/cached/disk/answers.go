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

// file returns the name of a file of a group version, or false if that is none. The name may come from the server, and must not lead
// to another directory.
func (d *CachedDiscoveryClient) file(groupVersion, name string) (string, bool) {
	for segment := range strings.SplitSeq(groupVersion, "/") {
		if segment == "." || segment == ".." || strings.ContainsAny(segment, "\\:\x00") || segment == "" && groupVersion != "" {
			return "", false
		}
	}
	return filepath.Join(d.directory, filepath.FromSlash(groupVersion), name), true
}

// read decodes a file that counts into an answer of a kind.
func (d *CachedDiscoveryClient) read(name, kind string, into any, is *metav1.TypeMeta) bool {
	d.mu.Lock()
	_, ours := d.ours[name]
	counts := ours || !d.invalidated
	d.mu.Unlock()
	if !counts {
		return false
	}
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
	if err != nil || json.Unmarshal(data, into) != nil || *is != typeMeta(kind) {
		return false
	}
	if ours {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.invalidated {
		return false // in the meantime
	}
	d.foreign = true
	return true
}

// write keeps an answer. If it cannot, the answer is as good, and the server will be asked again.
func (d *CachedDiscoveryClient) write(ctx context.Context, name string, answer any) {
	data, err := json.Marshal(answer)
	if err == nil {
		err = writeFile(name, data, []byte("\n"))
	}
	if err != nil {
		klog.FromContext(ctx).V(1).Info("Failed to write a file of the discovery cache", "file", name, "err", err)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ours[name] = struct{}{}
}
