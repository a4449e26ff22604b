package report

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Heading describes where and when a measurement was made, and of which revision, one fact per
// line. It runs git and go. Call it before the measurement, because it includes the load of the
// machine.
func Heading() string {
	var b strings.Builder
	fact := func(name, value string) { fmt.Fprintf(&b, "%-10s %s\n", name, value) }
	fact("date", time.Now().UTC().Format("2006-01-02 15:04 UTC"))
	fact("kinform", commit())
	fact("client-go", output("go", "list", "-m", "-f", "{{.Version}}", "k8s.io/client-go"))
	fact("machine", fmt.Sprintf("%s, GOMAXPROCS %d, %s/%s, %s", cpuModel(), runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH, runtime.Version()))
	fact("GOGC", fmt.Sprintf("%s, GOMEMLIMIT %s", cmp.Or(os.Getenv("GOGC"), "100"), cmp.Or(os.Getenv("GOMEMLIMIT"), "off")))
	fact("load", Load()+" before")
	return b.String()
}

// Load returns the machine's load average over the last 1, 5 and 15 minutes.
func Load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(data))[:3], " ")
}

// commit returns the commit of the checkout. It runs git, because a program run by "go run" does
// not know its commit.
func commit() string {
	revision := output("git", "rev-parse", "--short=12", "HEAD")
	if output("git", "status", "--porcelain", "--untracked-files=no") != "" {
		return revision + ", with uncommitted changes"
	}
	return revision
}

// output returns the output of a command, or "unknown".
func output(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown CPU"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown CPU"
}
