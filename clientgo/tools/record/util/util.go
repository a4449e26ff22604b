// Package util has helpers for recorders of both event APIs.
package util

import (
	"errors"
	"net/http"
	"strconv"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// ValidateEventType reports whether eventtype is Normal or Warning.
func ValidateEventType(eventtype string) bool {
	return eventtype == v1.EventTypeNormal || eventtype == v1.EventTypeWarning
}

// IsKeyNotFoundError reports whether the error is a server's response with code 404.
func IsKeyNotFoundError(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && status.Status().Code == http.StatusNotFound
}

// GenerateEventName returns a name for an event from the object's name and the time in nanoseconds
// since 1970. If the object's name is not valid in an event's name, it returns a random name.
func GenerateEventName(refName string, unixNano int64) string {
	if name := refName + "." + strconv.FormatInt(unixNano, 16); len(validation.NameIsDNSSubdomain(name, false)) == 0 {
		return name
	}
	return string(uuid.NewUUID())
}
