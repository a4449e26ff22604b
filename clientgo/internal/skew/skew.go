// Package skew says it when a program has been built with modules of another minor version of Kubernetes than this module is for.
//
// Go takes the newest version that anything in a program requires, so k8s.io/api and k8s.io/apimachinery can be newer than this
// module. They are older only if the program replaces them. Both may compile, and fail later in ways that do not tell the reason: a kind that the
// scheme does not know, a field that an apply configuration does not have.
package skew

import (
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"k8s.io/klog/v2"
)

// minor is the minor version that this module is for: the 37 of v0.37.
const minor = 37

// Report logs a warning, once in a process, if the program has been built with another minor version of k8s.io/api or
// k8s.io/apimachinery than this module is for.
var Report = sync.OnceFunc(func() {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, line := range differences(info.Deps) {
			klog.Warning(line)
		}
	}
})

// differences says of modules which ones have another minor version. Modules that are replaced by folders have none.
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

// minorOf returns the 37 of v0.37.2. Versions of single commits, v0.0.0-..., have none.
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
