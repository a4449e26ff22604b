package reflector

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestFailuresMeanWhatTheyMeanToAPIMachinery compares the predicates of this package with
// apimachinery's. It tests each reason, no reason and an unknown reason, with each code and without
// a code.
func TestFailuresMeanWhatTheyMeanToAPIMachinery(t *testing.T) {
	is := func(predicates ...func(error) bool) func(error) bool {
		return func(err error) bool {
			for _, p := range predicates {
				if p(err) {
					return true
				}
			}
			return false
		}
	}
	tooLarge := func(err error) bool {
		if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
			return true
		}
		var apiStatus apierrors.APIStatus
		return apierrors.IsTimeout(err) && errors.As(err, &apiStatus) &&
			strings.Contains(fmt.Sprintf("%+v", apiStatus.Status()), "Too large resource version")
	}
	pairs := map[string]struct{ ours, theirs func(error) bool }{
		"expired":     {IsExpired, is(apierrors.IsResourceExpired, apierrors.IsGone)},
		"too large":   {IsTooLarge, tooLarge},
		"unsupported": {isUnsupported, is(apierrors.IsBadRequest, apierrors.IsInvalid, apierrors.IsMethodNotSupported)},
		"refused": {IsRefused, is(apierrors.IsBadRequest, apierrors.IsInvalid, apierrors.IsInternalError,
			apierrors.IsForbidden, apierrors.IsNotFound, apierrors.IsMethodNotSupported, apierrors.IsTimeout, tooLarge)},
		"refuses version": {RefusesVersion, is(apierrors.IsResourceExpired, apierrors.IsGone, apierrors.IsBadRequest, apierrors.IsInvalid, tooLarge)},
		"permanent":       {isPermanent, is(apierrors.IsNotFound, apierrors.IsForbidden)},
		"busy":            {isBusy, apierrors.IsTooManyRequests},
	}
	// API servers send these reasons with these codes. Other servers may send them with any code.
	codes := map[metav1.StatusReason]int32{
		metav1.StatusReasonUnknown:               0,
		"OfItsOwn":                               http.StatusTeapot,
		metav1.StatusReasonUnauthorized:          http.StatusUnauthorized,
		metav1.StatusReasonForbidden:             http.StatusForbidden,
		metav1.StatusReasonNotFound:              http.StatusNotFound,
		metav1.StatusReasonAlreadyExists:         http.StatusConflict,
		metav1.StatusReasonConflict:              http.StatusConflict,
		metav1.StatusReasonGone:                  http.StatusGone,
		metav1.StatusReasonInvalid:               http.StatusUnprocessableEntity,
		metav1.StatusReasonTimeout:               http.StatusGatewayTimeout,
		metav1.StatusReasonTooManyRequests:       http.StatusTooManyRequests,
		metav1.StatusReasonBadRequest:            http.StatusBadRequest,
		metav1.StatusReasonMethodNotAllowed:      http.StatusMethodNotAllowed,
		metav1.StatusReasonNotAcceptable:         http.StatusNotAcceptable,
		metav1.StatusReasonRequestEntityTooLarge: http.StatusRequestEntityTooLarge,
		metav1.StatusReasonUnsupportedMediaType:  http.StatusUnsupportedMediaType,
		metav1.StatusReasonInternalError:         http.StatusInternalServerError,
		metav1.StatusReasonExpired:               http.StatusGone,
		metav1.StatusReasonServiceUnavailable:    http.StatusServiceUnavailable,
		metav1.StatusReasonServerTimeout:         http.StatusInternalServerError,
		metav1.StatusReasonStoreReadError:        http.StatusInternalServerError,
	}
	statuses := []metav1.Status{
		{},
		{Details: &metav1.StatusDetails{}},
		{
			Reason: metav1.StatusReasonTimeout, Code: http.StatusGatewayTimeout,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "Another"}, {Type: metav1.CauseTypeResourceVersionTooLarge}}},
		},
	}
	for _, reason := range []metav1.StatusReason{metav1.StatusReasonTimeout, metav1.StatusReasonServerTimeout} {
		statuses = append(statuses,
			metav1.Status{Reason: reason, Message: "Timeout: Too large resource version: 9, current: 8"},
			metav1.Status{Reason: reason, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "Another"}, {Message: "Too large resource version"}}}})
	}
	for reason := range codes {
		for _, code := range codes {
			statuses = append(statuses, metav1.Status{Reason: reason, Code: code})
		}
	}
	for _, status := range statuses {
		err := error(&apierrors.StatusError{ErrStatus: status})
		for name, p := range pairs {
			for _, err := range []error{err, fmt.Errorf("wrapped: %w", err), errors.Join(errors.New("another"), err)} {
				require.Equal(t, p.theirs(err), p.ours(err), "%s: %+v", name, err)
			}
		}
	}
	for name, p := range pairs {
		require.False(t, p.ours(nil), name)
		require.False(t, p.ours(errors.New("not from a server")), name)
	}
}

func TestRetryAfterOf(t *testing.T) {
	withRetryAfter := apierrors.NewTooManyRequests("later", 7)
	require.Equal(t, 7*time.Second, retryAfterOf(fmt.Errorf("wrapped: %w", withRetryAfter)))
	require.Equal(t, 3*time.Second, retryAfterOf(apierrors.NewServerTimeout(schema.GroupResource{Resource: "pods"}, "list", 3)))
	require.Zero(t, retryAfterOf(apierrors.NewTooManyRequests("later", 0)))
	require.Zero(t, retryAfterOf(apierrors.NewUnauthorized("no")))
	require.Zero(t, retryAfterOf(errors.New("not from a server")))
}
