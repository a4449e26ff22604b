package lab

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// zeroSettings are the settings whose initial value is 0, by name.
func (l *Lab) zeroSettings() map[string]*atomic.Int64 {
	return map[string]*atomic.Int64{
		"delay": &l.path.delay, "lose": &l.path.dropNext, "slow": &l.handlerDelay, "work": &l.reconcileDelay, "fail": &l.failurePercent, "hot": &l.hotRate,
	}
}

// State returns the settings that differ from their initial values.
func (l *Lab) State() map[string]string {
	state := map[string]string{}
	var paused []string
	gates := l.gates()
	for _, stage := range stages {
		if gates[stage].paused() {
			paused = append(paused, stage)
		}
	}
	if paused != nil {
		state["paused"] = strings.Join(paused, ", ")
	}
	for name, value := range l.zeroSettings() {
		n := value.Load()
		switch {
		case n == 0:
		case name == "delay" || name == "slow" || name == "work":
			state[name] = time.Duration(n).String()
		case name == "fail":
			state[name] = strconv.FormatInt(n, 10) + " %"
		default:
			state[name] = strconv.FormatInt(n, 10)
		}
	}
	if n := l.rate.Load(); n != int64(l.opts.Rate) {
		state["rate"] = strconv.FormatInt(n, 10)
	}
	if n := l.workers.Load(); n != int64(l.opts.Workers) {
		state["workers"] = strconv.FormatInt(n, 10)
	}
	how := l.currentSettings()
	if how.fetch != initialSettings.fetch {
		state["snapshot by"] = how.fetch
	}
	if how.encoding != initialSettings.encoding {
		state["encoding"] = strings.ToLower(how.encoding.String())
	}
	if how.omit {
		state["left out"] = "status and managedFields"
	}
	if how.overflow != initialSettings.overflow {
		state["mailbox"] = how.overflow.String()
	}
	return state
}
