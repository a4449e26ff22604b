package rest

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// calls has all calls that send a request.
var calls = func() map[string]func(context.Context, *Resource[*corev1.Pod]) error {
	all := map[string]func(context.Context, *Resource[*corev1.Pod]) error{
		"list": func(ctx context.Context, r *Resource[*corev1.Pod]) error { return listErr(ctx, r) },
		"watch": func(ctx context.Context, r *Resource[*corev1.Pod]) error {
			_, err := r.Watch(ctx, listwatch.WatchOptions{})
			return err
		},
		"delete collection": func(ctx context.Context, r *Resource[*corev1.Pod]) error {
			return r.DeleteCollection(ctx, "n", metav1.DeleteOptions{}, metav1.ListOptions{})
		},
		"apply": func(ctx context.Context, r *Resource[*corev1.Pod]) error {
			_, err := r.ServerSideApply(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a"}}, metav1.ApplyOptions{FieldManager: "me"})
			return err
		},
		"bind": func(ctx context.Context, r *Resource[*corev1.Pod]) error {
			_, err := Must(NewSubresource[*corev1.Binding](r, "binding")).Create(ctx, types.NamespacedName{Namespace: "n", Name: "a"}, &corev1.Binding{}, metav1.CreateOptions{})
			return err
		},
		"raw": func(ctx context.Context, r *Resource[*corev1.Pod]) error {
			_, err := r.client.Raw(ctx, http.MethodGet, "/api/v1/pods", RawOptions{})
			return err
		},
	}
	for name, call := range verbs {
		all[name] = call
	}
	return all
}()

func TestErrorPredicatesMatchEveryStatusCode(t *testing.T) { // RS-19
	t.Parallel()
	one := func(is func(error) bool) func(string) func(error) bool {
		return func(string) func(error) bool { return is }
	}
	for code, predicate := range map[int]func(method string) func(error) bool{
		301: one(apierrors.IsUnexpectedServerError),
		400: one(apierrors.IsBadRequest),
		401: one(apierrors.IsUnauthorized),
		403: one(apierrors.IsForbidden),
		404: one(apierrors.IsNotFound),
		405: one(apierrors.IsMethodNotSupported),
		406: one(apierrors.IsNotAcceptable),
		409: func(method string) func(error) bool {
			if method == http.MethodPost {
				return apierrors.IsAlreadyExists
			}
			return apierrors.IsConflict
		},
		410: one(apierrors.IsGone),
		413: one(apierrors.IsRequestEntityTooLargeError),
		415: one(apierrors.IsUnsupportedMediaType),
		418: one(apierrors.IsUnexpectedServerError),
		422: one(apierrors.IsInvalid),
		429: one(apierrors.IsTooManyRequests),
		500: one(apierrors.IsInternalError),
		502: one(apierrors.IsUnexpectedServerError),
		503: one(apierrors.IsServiceUnavailable),
		504: one(apierrors.IsTimeout),
	} {
		var method string
		client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			method = r.Method
			w.WriteHeader(code)
			_, _ = w.Write([]byte("no"))
		}), Options{})
		for name, call := range calls {
			err := call(t.Context(), pods(client))
			require.True(t, predicate(method)(err), "%d %s: %v", code, name, err)
			failed, ok := errors.AsType[*Error](err)
			require.True(t, ok)
			require.Equal(t, code, failed.StatusCode)
			require.Equal(t, method, failed.Method)
			require.Equal(t, 1, failed.Attempts)
			require.Contains(t, err.Error(), method+" "+client.base.String()+"/api/v1/", name)
		}
	}
}

func TestErrorPredicatesMatchEveryReason(t *testing.T) { // RS-19
	t.Parallel()
	for reason, is := range map[metav1.StatusReason]func(error) bool{
		metav1.StatusReasonUnauthorized:          apierrors.IsUnauthorized,
		metav1.StatusReasonForbidden:             apierrors.IsForbidden,
		metav1.StatusReasonNotFound:              apierrors.IsNotFound,
		metav1.StatusReasonAlreadyExists:         apierrors.IsAlreadyExists,
		metav1.StatusReasonConflict:              apierrors.IsConflict,
		metav1.StatusReasonGone:                  apierrors.IsGone,
		metav1.StatusReasonInvalid:               apierrors.IsInvalid,
		metav1.StatusReasonServerTimeout:         apierrors.IsServerTimeout,
		metav1.StatusReasonTimeout:               apierrors.IsTimeout,
		metav1.StatusReasonTooManyRequests:       apierrors.IsTooManyRequests,
		metav1.StatusReasonBadRequest:            apierrors.IsBadRequest,
		metav1.StatusReasonMethodNotAllowed:      apierrors.IsMethodNotSupported,
		metav1.StatusReasonNotAcceptable:         apierrors.IsNotAcceptable,
		metav1.StatusReasonRequestEntityTooLarge: apierrors.IsRequestEntityTooLargeError,
		metav1.StatusReasonUnsupportedMediaType:  apierrors.IsUnsupportedMediaType,
		metav1.StatusReasonInternalError:         apierrors.IsInternalError,
		metav1.StatusReasonExpired:               apierrors.IsResourceExpired,
		metav1.StatusReasonServiceUnavailable:    apierrors.IsServiceUnavailable,
		metav1.StatusReasonStoreReadError:        apierrors.IsStoreReadError,
	} {
		for _, e := range encodings {
			client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", contentType(e))
				w.WriteHeader(499)
				_, _ = w.Write(encode(t, e, "Status", &metav1.Status{Status: metav1.StatusFailure, Reason: reason, Message: "because"}))
			}), Options{})
			for name, call := range calls {
				err := call(t.Context(), pods(client))
				require.True(t, is(err), "%s %s: %v", reason, name, err)
				require.ErrorContains(t, err, ": because")
				require.Equal(t, reason, apierrors.ReasonForError(err))
			}
		}
	}
}

func TestErrorURLHasNoSecrets(t *testing.T) {
	t.Parallel()
	client := serve(t, http.NotFoundHandler(), Options{})
	_, err := client.Raw(t.Context(), http.MethodGet, "/x", RawOptions{Query: map[string][]string{
		"token": {"hush1"}, "access_token": {"hush2"}, "password": {"hush3"}, "continue": {"hush4"}, "limit": {"7"},
	}})
	require.ErrorContains(t, err, "/x?access_token=...&continue=...&limit=7&password=...&token=...: ")
	require.NotContains(t, err.Error(), "hush")
}
