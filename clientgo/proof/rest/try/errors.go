package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/net"

	"k8s.io/client-go/rest"
)

// is lists the functions with which programs test errors.
var is = []struct {
	name string
	fn   func(error) bool
}{
	{"notFound", apierrors.IsNotFound}, {"alreadyExists", apierrors.IsAlreadyExists}, {"conflict", apierrors.IsConflict}, {"invalid", apierrors.IsInvalid},
	{"gone", apierrors.IsGone}, {"expired", apierrors.IsResourceExpired}, {"notAcceptable", apierrors.IsNotAcceptable},
	{"mediaType", apierrors.IsUnsupportedMediaType}, {"method", apierrors.IsMethodNotSupported}, {"unavailable", apierrors.IsServiceUnavailable},
	{"badRequest", apierrors.IsBadRequest}, {"unauthorized", apierrors.IsUnauthorized}, {"forbidden", apierrors.IsForbidden},
	{"timeout", apierrors.IsTimeout}, {"serverTimeout", apierrors.IsServerTimeout}, {"internal", apierrors.IsInternalError},
	{"tooMany", apierrors.IsTooManyRequests}, {"tooLarge", apierrors.IsRequestEntityTooLargeError},
	{"unexpectedServer", apierrors.IsUnexpectedServerError}, {"unexpectedObject", apierrors.IsUnexpectedObjectError},
	{"probableEOF", net.IsProbableEOF}, {"netTimeout", net.IsTimeout}, {"reset", net.IsConnectionReset}, {"refused", net.IsConnectionRefused},
	{"canceled", func(err error) bool { return errors.Is(err, context.Canceled) }},
	{"deadline", func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }},
	{"EOF", func(err error) bool { return errors.Is(err, io.EOF) }},
	{"unexpectedEOF", func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
	{"mark", func(err error) bool { return errors.Is(err, errProgram) }},
	{"notInCluster", func(err error) bool { return errors.Is(err, rest.ErrNotInCluster) }},
	{"url", func(err error) bool { _, ok := errors.AsType[*url.Error](err); return ok }},
	{"construction", func(err error) bool { _, ok := errors.AsType[*rest.RequestConstructionError](err); return ok }},
}

// errProgram is a program's own error.
var errProgram = errors.New("mark")

// kindOf returns all properties of an error that programs can test for.
func kindOf(err error) string {
	if err == nil {
		return "no error"
	}
	kind := fmt.Sprintf("%T", err)
	// errors.As converts a StreamError of net/http to a StreamError of x/net/http2
	if strings.Contains(kind, "StreamError") {
		kind = "stream error"
	}
	if strings.HasPrefix(kind, "*errors.errorString") || strings.HasPrefix(kind, "*fmt.") || strings.HasPrefix(kind, "*rest.") {
		kind = "error"
	}
	parts := []string{kind, err.Error()}
	for _, question := range is {
		if question.fn(err) {
			parts = append(parts, question.name)
		}
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		parts = append(parts, "status", text(status.Status()))
	}
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		parts = append(parts, fmt.Sprint("delay ", seconds))
	}
	return strings.Join(parts, " ")
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return short(data)
}

// short returns the bytes, or their size and checksum if there are many.
func short(data []byte) string {
	if data == nil {
		return "nil"
	}
	if len(data) > 3000 {
		return fmt.Sprintf("%.100q... %d bytes %x", data, len(data), sha256.Sum256(data))
	}
	return fmt.Sprintf("%q", data)
}
