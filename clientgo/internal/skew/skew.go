// Package skew warns if a program is built with Kubernetes modules of another minor version than
// this module supports.
//
// Go selects the newest version that any module in the program requires, so k8s.io/api and
// k8s.io/apimachinery can be newer than this module. They are older only if the program replaces
// them. In both cases the program may compile, and fail later without a clear reason. For example,
// the scheme may lack a kind, or an apply configuration may lack a field.
package skew

import (
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"k8s.io/klog/v2"
)

// minor is the minor version that this module supports: the 37 of v0.37.
const minor = 37

// Report logs a warning if the program is built with another minor version of k8s.io/api or
// k8s.io/apimachinery than this module supports. It does so once per process.
var Report = sync.OnceFunc(func() {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, line := range differences(info.Deps) {
			klog.Warning(line)
		}
	}
})

// differences returns a warning for each module with another minor version. A module that is
// replaced by a folder has no version.
func differences(deps []*debug.Module) []string {
	var lines []string
	for _, dep := range deps {
		if dep.Path != "k8s.io/api" && dep.Path != "k8s.io/apimachinery" {
			continue
		}
		version := dep.Version
		if dep.Replace != nil {
			version = dep.Replace.Version
		}
		theirs, ok := minorOf(version)
		switch {
		case !ok || theirs == minor:
			continue
		case theirs > minor:
			lines = append(lines, dep.Path+" "+version+" is newer than k8s.io/client-go of this program, which is kinform's for v0."+strconv.Itoa(minor)+
				": its clients, informers and apply configurations do not know what was added since. Take the release of kinform that is for v0."+strconv.Itoa(theirs))
		default:
			lines = append(lines, dep.Path+" "+version+" is older than k8s.io/client-go of this program, which is kinform's for v0."+strconv.Itoa(minor)+
				": the program's go.mod replaces it. Remove that line, or take the release of kinform that is for v0."+strconv.Itoa(theirs))
		}
	}
	return lines
}

// minorOf returns the minor version, such as 37 for v0.37.2. It returns false for a pseudo-version,
// v0.0.0-...
func minorOf(version string) (int, bool) {
	rest, ok := strings.CutPrefix(version, "v0.")
	if !ok {
		return 0, false
	}
	number, _, ok := strings.Cut(rest, ".")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(number)
	return n, err == nil && n > 0
}
