package events

import (
	"fmt"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An API server's limits for the texts of an Event, in bytes.
const (
	maxNote        = 1024
	maxFieldLength = 128 // reason, action, instance

	// maxAnnotations limits all annotations together. A server accepts more bytes, but a Recorder
	// would have to keep them in memory.
	maxAnnotations = 8 << 10
)

// Event is something that happened to an object.
type Event struct {
	// Object is the object that the event is about. The kind of a built-in type is known; other
	// types need a TypeMeta. The Recorder does not keep a reference to the object.
	Object metav1.Object

	// Regarding is a reference to the object that the event is about, if Object is nil.
	Regarding corev1.ObjectReference

	// Related is a reference to another object that the event concerns. Defaults to none.
	Related corev1.ObjectReference

	// Type is corev1.EventTypeNormal or corev1.EventTypeWarning. Defaults to Normal.
	Type string

	// Reason says in one word why the event happened, for programs, such as "Published". The Reason
	// is cut after 128 bytes. It is required.
	Reason string

	// Action is the action that was performed or failed, in one word. It is cut after 128 bytes.
	// Defaults to Reason.
	Action string

	// Note is for people. It is cut after 1,024 bytes, at a rune.
	Note string

	// Annotations are the annotations of the Event. In a series, only the annotations of the first
	// event count. The Recorder does not keep the map. An event whose annotations have more than
	// 8,192 bytes is invalid. Defaults to none.
	Annotations map[string]string
}

// String is the event in one line: "Normal Published Website default/blog: there are 3 pages".
func (e Event) String() string {
	name := e.Regarding.Name
	if e.Regarding.Namespace != "" {
		name = e.Regarding.Namespace + "/" + name
	}
	return fmt.Sprintf("%s %s %s %s: %s", e.Type, e.Reason, e.Regarding.Kind, name, e.Note)
}

// complete sets defaults, and truncates texts to their limits. It returns false for an event that
// no server would accept, or whose annotations are too large.
func (e *Event) complete() bool {
	if e.Type == "" {
		e.Type = corev1.EventTypeNormal
	}
	e.Reason = limitText(e.Reason, maxFieldLength)
	if e.Action = limitText(e.Action, maxFieldLength); e.Action == "" {
		e.Action = e.Reason
	}
	e.Note = limitText(e.Note, maxNote)
	annotations := 0
	for name, value := range e.Annotations {
		annotations += len(name) + len(value)
	}
	if annotations > maxAnnotations {
		return false
	}
	return e.Reason != "" && (e.Type == corev1.EventTypeNormal || e.Type == corev1.EventTypeWarning)
}

// limitText returns s as valid UTF-8, truncated to at most the given number of bytes. The result
// does not keep a longer text alive.
func limitText(s string, most int) string {
	if len(s) <= most && utf8.ValidString(s) {
		return s
	}
	if len(s) > 4*most {
		s = s[:4*most] // enough, however many bytes are invalid
	}
	return strings.Clone(truncate(strings.ToValidUTF8(s, "\uFFFD"), most))
}

// truncate cuts the UTF-8 string s before a rune, so that it has at most the given number of bytes.
func truncate(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
