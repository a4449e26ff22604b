package rest

import (
	"context"
	"mime"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"

	restclientwatch "k8s.io/client-go/rest/watch"
)

// newWatch returns the events of an answer.
func (r *Request) newWatch(ctx context.Context, resp *http.Response) (watch.Interface, error) {
	contentType := resp.Header.Get("Content-Type")
	mediaType, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		klog.FromContext(ctx).V(4).Info("Unexpected content type from the server", "contentType", contentType, "err", err)
	}
	objects, events, framer, err := r.content.Negotiator.StreamDecoder(mediaType, params)
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	handleWarnings(ctx, resp.Header, r.warningHandler)
	decoder := restclientwatch.NewDecoder(streaming.NewDecoder(framer.NewFrameReader(resp.Body), events), objects)
	return watch.NewStreamWatcher(decoder, apierrors.NewClientErrorReporter(http.StatusInternalServerError, r.verb, "ClientWatchDecoding")), nil
}
