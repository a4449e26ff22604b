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

// version is what sets the versions of the protocol apart. Versions 4 and 5 differ in how a websocket closes one stream, which
// SPDY can by itself.
type version struct {
	endsStdin bool // the end of the input is told to the command
	endsError bool // the error stream ends after the output, and is waited for
	resizes   bool // there is a stream of the terminal's sizes
	status    bool // the error stream has a metav1.Status with the exit code, and no mere text
}

// versionOf returns the version of a name. A server that has named none has the first version.
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

// failure returns what a message on the error stream says: nil if it is that the command has ended with code 0.
func (v version) failure(message []byte) error {
	if !v.status {
		text := "error executing remote command: %s"
		if !v.endsError { // as client-go writes it
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

// exitCode returns the error of a command that has ended with another code than 0.
func exitCode(details *metav1.StatusDetails) error {
	if details == nil {
		return errors.New("error stream protocol error: details must be set")
	}
	for _, cause := range details.Causes {
		if cause.Type != remotecommand.ExitCodeCauseType {
			continue
		}
		code, err := strconv.ParseUint(cause.Message, 10, strconv.IntSize-1) // Windows has codes of 32 bits
		if err != nil {
			return fmt.Errorf("error stream protocol error: invalid exit code value %q", cause.Message)
		}
		return exec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", code), Code: int(code)}
	}
	return fmt.Errorf("error stream protocol error: no %s cause given", remotecommand.ExitCodeCauseType)
}
