package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/internal/sink"

	"github.com/kinform/kinform/listwatch"
	kinform "github.com/kinform/kinform/rest"
)

// listDecoder decodes a list object by object, on several cores. The objects may share parts. The
// program's codec decodes all fields of the list except the items.
type listDecoder struct {
	decoder runtime.Decoder
	codec   codec
	reader  *kinform.BodyReader
	target  runtime.Object
	items   reflect.Value // the field Items of target
	copied  bool          // objects are passed on as a sink.Shared
}

// newListDecoder returns the listDecoder for a response body that begins with start. It decodes the
// fields of the list except the items into target. It returns nil if it does not support the body,
// the target or the decoder. Then the program's codec must decode the whole body, so that result
// and errors are client-go's. In this case target is unchanged, or empty if the codec clears its
// target.
func newListDecoder(start []byte, decoder runtime.Decoder, target runtime.Object, shared Sharing, use sink.Use) *listDecoder {
	l := &listDecoder{decoder: decoder, target: target}
	var ok bool
	if l.codec, ok = codecOf(decoder); !ok {
		return nil
	}
	v := reflect.ValueOf(target)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil
	}
	l.items = v.Elem().FieldByName("Items")
	if !l.items.IsValid() || l.items.Kind() != reflect.Slice || l.objectType() == nil {
		return nil
	}
	if l.codec.clearsTarget {
		v.Elem().SetZero()
	} else if !v.Elem().IsZero() {
		return nil
	}
	if l.reader, l.copied = decodersOf(shared).readerOf(l.objectType(), schema.GroupVersionKind{}, use, l.codec.encoding); l.reader == nil {
		return nil
	}
	empty, late, ok := withoutItems(start, l.codec.encoding)
	if !ok || !late && l.decodeListFields(empty) != nil {
		return nil
	}
	return l
}

// objectType returns a pointer to the type of objects, or nil if that type is not a struct.
func (l *listDecoder) objectType() reflect.Type {
	t := l.items.Type().Elem()
	switch {
	case t.Kind() == reflect.Struct:
		return reflect.PointerTo(t)
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		return t
	}
	return nil
}

// decodeListFields decodes the argument empty, the encoded list without its items, into the target.
// It uses the program's codec.
func (l *listDecoder) decodeListFields(empty []byte) error {
	v := reflect.ValueOf(l.target).Elem()
	into, kind, err := l.decoder.Decode(empty, nil, l.target)
	if err == nil && into != l.target {
		err = fmt.Errorf("the answer is %v, which is no %v", kind, v.Type())
	}
	if err != nil {
		v.SetZero()
	}
	return err
}

// itemConsumer receives the objects of a list in order. skip receives the error of an undecodable
// object.
type itemConsumer interface {
	consume(item listwatch.Item[any]) error
	consumeUndecodable(undecodable *listwatch.ObjectError) error
}

// read reads the body to its end, and closes it. After an error the target is empty.
func (l *listDecoder) read(ctx context.Context, response *http.Response, opts listwatch.ListOptions, to itemConsumer) (bytes int64, err error) {
	defer func() {
		if err != nil {
			reflect.ValueOf(l.target).Elem().SetZero()
		}
	}()
	stream, err := l.reader.List(ctx, response, opts)
	if err != nil {
		_ = response.Body.Close()
		return 0, err
	}
	defer func() { _ = stream.Close() }()
	for {
		item, err := stream.Next()
		if err == io.EOF { //nolint:errorlint // the orderly end of the list
			break
		}
		if undecodable, ok := errors.AsType[*listwatch.ObjectError](err); ok {
			err = to.consumeUndecodable(undecodable)
		} else if err == nil {
			if l.copied && item.State == listwatch.Decoded {
				item.Object = sink.Shared{Object: item.Object.(runtime.Object)}
			}
			err = to.consume(item)
		}
		if err != nil {
			return stream.Meta().Bytes, err
		}
	}
	if empty := stream.Empty(); empty != nil { // the list with the fields after the items
		reflect.ValueOf(l.target).Elem().SetZero()
		err = l.decodeListFields(empty)
	}
	return stream.Meta().Bytes, err
}

// itemCollector is an itemConsumer that collects the objects of a list. The method put then puts
// them into the list.
type itemCollector struct{ objects []any }

func (c *itemCollector) consume(item listwatch.Item[any]) error {
	c.objects = append(c.objects, item.Object)
	return nil
}

func (c *itemCollector) consumeUndecodable(undecodable *listwatch.ObjectError) error {
	return undecodable.Err
}

// put sets items to the collected objects.
func (c *itemCollector) put(items reflect.Value) {
	pointers := items.Type().Elem().Kind() == reflect.Pointer
	all := reflect.MakeSlice(items.Type(), len(c.objects), len(c.objects))
	for i, object := range c.objects {
		v := reflect.ValueOf(object)
		if !pointers {
			v = v.Elem()
		}
		all.Index(i).Set(v)
	}
	items.Set(all)
}

// intoList decodes a body into a list, and reports whether it has decoded it. If it returns false,
// the list is empty as before, and the program's codec must decode the whole body.
func intoList(body []byte, contentType string, decoder runtime.Decoder, target runtime.Object, shared Sharing) bool {
	if target == nil || len(body) == 0 {
		return false
	}
	l := newListDecoder(body[:min(len(body), peekSize)], decoder, target, shared, sink.Owned)
	if l == nil {
		return false
	}
	response := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(bytes.NewReader(body))}
	var all itemCollector
	if _, err := l.read(context.Background(), response, listwatch.ListOptions{}, &all); err != nil {
		return false
	}
	if len(all.objects) == 0 {
		// leave a list without items to the codec, which decides between an empty and a nil slice
		reflect.ValueOf(target).Elem().SetZero()
		return false
	}
	all.put(l.items)
	return true
}
