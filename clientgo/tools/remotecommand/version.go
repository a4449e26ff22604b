package remotecommand

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/klog/v2"
)

// version describes a version of the protocol. Versions 4 and 5 have the same description. They
// differ only over a websocket: only in version 5 can a single stream be closed. SPDY can always
// close a single stream.
type version struct {
	endsStdin bool // the command sees the end of its input
	endsError bool // the error stream ends after the output, and run waits for it
	resizes   bool // the terminal sizes have a stream
	status    bool // the error stream has a metav1.Status with the exit code, not plain text
}

// versionOf returns the version with this name. A server that names no version is assumed to have
// the first version.
func versionOf(ctx context.Context, name string) version {
	switch name {
	case remotecommand.StreamProtocolV5Name, remotecommand.StreamProtocolV4Name:
		return version{endsStdin: true, endsError: true, resizes: true, status: true}
	case remotecommand.StreamProtocolV3Name:
		return version{endsStdin: true, endsError: true, resizes: true}
	case remotecommand.StreamProtocolV2Name:
		return version{endsStdin: true, endsError: true}
	case "":
		klog.FromContext(ctx).V(4).Info("The server did not name a protocol of remote commands, the first one is used", "protocol", remotecommand.StreamProtocolV1Name)
	}
	return version{}
}

// failure returns the error that the content of the error stream describes. It returns nil for exit
// code 0.
func (v version) failure(message []byte) error {
	if !v.status {
		text := "error executing remote command: %s"
		if !v.endsError { // the error text is client-go's
			text = "Error executing remote command: %s"
		}
		return fmt.Errorf(text, message)
	}
	var status metav1.Status
	if err := json.Unmarshal(message, &status); err != nil {
		return fmt.Errorf("error stream protocol error: %w in %q", err, message)
	}
	switch status.Status {
	case metav1.StatusSuccess:
		return nil
	case metav1.StatusFailure:
		if status.Reason != remotecommand.NonZeroExitCodeReason {
			return errors.New(status.Message)
		}
		return exitCode(status.Details)
	}
	return errors.New("error stream protocol error: unknown error")
}

// exitCode returns the error for an exit code other than 0.
func exitCode(details *metav1.StatusDetails) error {
	if details == nil {
		return errors.New("error stream protocol error: details must be set")
	}
	for _, cause := range details.Causes {
		if cause.Type != remotecommand.ExitCodeCauseType {
			continue
		}
		// exit codes of Windows have 32 bits
		code, err := strconv.ParseUint(cause.Message, 10, strconv.IntSize-1)
		if err != nil {
			return fmt.Errorf("error stream protocol error: invalid exit code value %q", cause.Message)
		}
		return exec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", code), Code: int(code)}
	}
	return fmt.Errorf("error stream protocol error: no %s cause given", remotecommand.ExitCodeCauseType)
}
