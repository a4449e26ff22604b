package wire

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// Page is one page of a list, with the content of the response.
type Page struct {
	Items []*storage.Revision
	Meta  metav1.ListMeta
}

// WriteList writes a page. The items are encoded already. In protobuf, the total length of the list
// comes first. In JSON, the keys have the same order as on the real server: metadata first for
// typed lists, sorted keys for custom resources.
func (f Format) WriteList(w http.ResponseWriter, res *storage.Resource, p Page) error {
	w.Header().Set("Content-Type", f.ContentType())
	w.WriteHeader(http.StatusOK)
	out := bufio.NewWriterSize(w, FlushSize)
	apiVersion, kind := f.typeOf(res)
	switch {
	case f.Table:
		_, _ = out.Write(append(apiobject.MustJSON(f.rows(res, p.Meta, p.Items...)), '\n'))
	case f.Protobuf:
		f.writeProtoList(out, apiVersion, kind+"List", p)
	case !f.typed(res) || f.metadata:
		_, _ = out.Write(appendJSONType(nil, apiVersion, kind+"List"))
		fmt.Fprintf(out, `"metadata":%s,"items":[`, apiobject.MustJSON(p.Meta))
		f.writeItems(out, p.Items)
		_, _ = out.WriteString("]}\n")
	default:
		fmt.Fprintf(out, `{"apiVersion":%q,"items":[`, apiVersion)
		f.writeItems(out, p.Items)
		fmt.Fprintf(out, `],"kind":%q,"metadata":%s}`+"\n", kind+"List", apiobject.MustJSON(customListMeta(p.Meta)))
	}
	// If the client has gone, nobody can receive an error.
	_ = out.Flush()
	return nil
}

// customListMeta returns the list metadata of custom resources. The keys are sorted. The key
// "continue" is present even if its value is empty.
func customListMeta(meta metav1.ListMeta) map[string]any {
	m := map[string]any{"continue": meta.Continue, "resourceVersion": meta.ResourceVersion}
	if meta.RemainingItemCount != nil {
		m["remainingItemCount"] = *meta.RemainingItemCount
	}
	return m
}

func (f Format) writeItems(out *bufio.Writer, items []*storage.Revision) {
	for i, rev := range items {
		if i > 0 {
			_ = out.WriteByte(',')
		}
		_, _ = out.Write(f.item(rev))
	}
}

func (f Format) writeProtoList(out *bufio.Writer, apiVersion, kind string, p Page) {
	meta, err := p.Meta.Marshal()
	if err != nil {
		panic("apitest: encoding list metadata: " + err.Error())
	}
	field := func(b []byte, tag byte, size int) []byte {
		return binary.AppendUvarint(append(b, tag), uint64(size))
	}
	size := 1 + varintSize(len(meta)) + len(meta)
	for _, rev := range p.Items {
		n := len(f.item(rev))
		size += 1 + varintSize(n) + n
	}
	head := appendEnvelope(nil, apiVersion, kind, size)
	_, _ = out.Write(append(field(head, 0x0a, len(meta)), meta...))
	for _, rev := range p.Items {
		item := f.item(rev)
		_, _ = out.Write(field(out.AvailableBuffer(), 0x12, len(item)))
		_, _ = out.Write(item)
	}
	_, _ = out.WriteString(apiobject.EnvelopeEnd)
}

// FlushSize is the number of buffered bytes above which they are written, even if more events are
// ready.
const FlushSize = 64 << 10
