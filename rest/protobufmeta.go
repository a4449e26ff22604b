package rest

import (
	"encoding/binary"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// The two small messages that every list and every failure comes with. They are
// read by hand because apimachinery's own methods, with all that they reach,
// would make a program with a pod informer larger by a fiftieth of its limit.

// eachField calls read for the fields of a message up to number last, in their
// order. All of them have a length, except for the one with the number varint.
func eachField(message []byte, last, varint uint64, read func(field uint64, value []byte) error) error {
	for len(message) > 0 {
		h, value, rest, err := nextField(message, false)
		if err != nil {
			return err
		}
		message = rest
		if h.field > last {
			continue
		}
		if isVarint := h.field == varint; h.wire != wireVarint && isVarint || h.wire != wireBytes && !isVarint {
			return malformed("protobuf: field %d of wire type %d", h.field, h.wire)
		}
		if err := read(h.field, value); err != nil {
			return err
		}
	}
	return nil
}

// number reads a varint.
//
//go:noinline
func number(value []byte) int64 {
	n, _ := binary.Uvarint(value)
	return int64(n)
}

// readListMeta reads a ListMeta: resourceVersion=2, continue=3,
// remainingItemCount=4.
func readListMeta(message []byte) (meta listwatch.ListMeta, err error) {
	err = eachField(message, 4, 4, func(field uint64, value []byte) error {
		switch field {
		case 2:
			meta.ResourceVersion = string(value)
		case 3:
			meta.Continue = string(value)
		case 4:
			meta.RemainingItemCount = number(value)
		}
		return nil
	})
	return meta, err
}

// readStatus reads a Status: status=2, message=3, reason=4, details=5, code=6.
func readStatus(message []byte) (status metav1.Status, err error) {
	err = eachField(message, 6, 6, func(field uint64, value []byte) (err error) {
		switch field {
		case 2:
			status.Status = string(value)
		case 3:
			status.Message = string(value)
		case 4:
			status.Reason = metav1.StatusReason(value)
		case 5:
			status.Details, err = readStatusDetails(value)
		case 6:
			status.Code = int32(number(value))
		}
		return err
	})
	return status, err
}

// readStatusDetails reads a StatusDetails: name=1, group=2, kind=3, causes=4,
// retryAfterSeconds=5, uid=6.
func readStatusDetails(message []byte) (*metav1.StatusDetails, error) {
	details := &metav1.StatusDetails{}
	err := eachField(message, 6, 5, func(field uint64, value []byte) error {
		switch field {
		case 1:
			details.Name = string(value)
		case 2:
			details.Group = string(value)
		case 3:
			details.Kind = string(value)
		case 4:
			if len(details.Causes) == maxCauses {
				return nil
			}
			cause, err := readStatusCause(value)
			details.Causes = append(details.Causes, cause)
			return err
		case 5:
			details.RetryAfterSeconds = int32(number(value))
		case 6:
			details.UID = types.UID(value)
		}
		return nil
	})
	return details, err
}

// readStatusCause reads a StatusCause: reason=1, message=2, field=3.
func readStatusCause(message []byte) (cause metav1.StatusCause, err error) {
	err = eachField(message, 3, 0, func(field uint64, value []byte) error {
		switch field {
		case 1:
			cause.Type = metav1.CauseType(value)
		case 2:
			cause.Message = string(value)
		case 3:
			cause.Field = string(value)
		}
		return nil
	})
	return cause, err
}
