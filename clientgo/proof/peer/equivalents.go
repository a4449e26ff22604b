package main

import "regexp"

// equivalents rewrites uses of unexported identifiers in client-go's tests, if this module has an
// equivalent under another name. Without a rewrite, such a test would be left out. A rewrite keeps
// the number of lines.
var equivalents = map[string][]equivalent{
	"tools/cache": {
		{`s\.startedLock\.(Lock|Unlock)\(\)`, "s.mu.$1()"},
		{`len\(s\.processor\.listeners\)`, "len(s.handlers.all)"},
		{`s\.processor\.getListener\(h\) != nil`,
			"func() (found bool) { for _, l := range s.handlers.all { found = found || ResourceEventHandlerRegistration(l) == h }; return }()"},
		{`\br\.setLastSyncResourceVersion\("(\w+)"\)`, `func() { v := "$1"; r.version.Store(&v) }()`},
		{`\bclosedMsg\b`, "errHeapClosed.Error()"},
		{`&typedResourceEventHandler\b`, "typedHandler"},
	},
	"tools/clientcmd": {
		// Drop this line: the next line calls testConfig, which tests the same with the exported
		// Validate.
		{`test\.test(AuthInfo|Cluster|Context)\(.*\)`, ""},
	},
	"tools/record": {
		{`&recorderImpl\{.*\}`, "eventBroadcaster.NewRecorder(scheme.Scheme, eventSource)"},
		// the recorder of this module uses the real clock
		{`\bclock\.Step\(1 \* time\.Second\)`, "time.Sleep(time.Second)"},
		{`\beventBroadcasterImpl\{`, "writer{"},
		{`\bcancelationCtx: +ctx,`, "sink: sink, correlator: eventCorrelator,"},
		{`\bsleepDuration:`, "sleep:"},
		{`\be\.recordToSink\(sink, ev, eventCorrelator\)`, "e.record(ctx, ev)"},
		{`\bgetEventKey\(event\)`, "fmt.Sprint(event.Source, event.InvolvedObject, event.Type, event.Reason, event.Message)"},
		{`\bmaxQueuedEvents\b`, "maxQueued"},
		{`\bdefaultAggregateMaxEvents\b`, "10"},
		{`\bdefaultAggregateIntervalInSeconds\b`, "600"},
		{`\bdefaultSpamBurst\b`, "25"},
	},
	"transport": {
		{`\bmaskValue\(`, "masked("},
		{`\bheaderKeyEscape\(`, "escaped("},
	},
	"util/workqueue": {
		// AddAfter of this module does not use a goroutine
		{`len\(q\.\(\*delayingType\[any\]\)\.waitingForAddCh\) == 0`, "true"},
	},
	"tools/remotecommand": {
		// The negotiated protocol is not accessible here. Only version 5 is offered.
		{`streamExec := exec\.\(\*wsStreamExecutor\)\n\s*if remotecommand\.StreamProtocolV5Name != streamExec\.negotiated \{\n.*\n\s*\}\n`, "\n\n\n\n"},
	},
}

// equivalent is a regular expression, and the replacement of its matches.
type equivalent struct{ from, to string }

// rewrite applies the equivalents of a package to a file.
func rewrite(pkg string, text []byte) []byte {
	for _, e := range equivalents[pkg] {
		text = regexp.MustCompile(e.from).ReplaceAll(text, []byte(e.to))
	}
	return text
}
