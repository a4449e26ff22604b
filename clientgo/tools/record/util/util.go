// Package util has what the recorders of both kinds of events share.
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

// ValidateEventType reports whether this is a type that events can have.
func ValidateEventType(eventtype string) bool {
	return eventtype == v1.EventTypeNormal || eventtype == v1.EventTypeWarning
}

// IsKeyNotFoundError reports whether the error is a server's that says 404.
func IsKeyNotFoundError(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && status.Status().Code == http.StatusNotFound
}

// GenerateEventName returns a name for an event about an object of this name, at this time in nanoseconds since 1970.
// If the object's name can't be a part of an event's name, it is a random one.
func GenerateEventName(refName string, unixNano int64) string {
	if name := refName + "." + strconv.FormatInt(unixNano, 16); len(validation.NameIsDNSSubdomain(name, false)) == 0 {
		return name
	}
	return string(uuid.NewUUID())
}
