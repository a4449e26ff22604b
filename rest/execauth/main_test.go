package execauth

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary also acts as the plugin. This variable selects what the plugin does.
const role = "EXECAUTH_TEST_ROLE"

func TestMain(m *testing.M) {
	if what := os.Getenv(role); what != "" {
		os.Exit(runPlugin(what, os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// runPlugin is the plugin: it does what the variable selects.
func runPlugin(what string, args []string) int {
	switch what {
	case "file": // prints a file, and adds a line to the journal
		logRun(args[1])
		data, err := os.ReadFile(args[0])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		os.Stdout.Write(data)
	case "echo": // prints its input as the token
		var q struct{ APIVersion string }
		info := os.Getenv("KUBERNETES_EXEC_INFO")
		_ = json.Unmarshal([]byte(info), &q)
		token, _ := json.Marshal(strings.Join(args, ",") + "|" + os.Getenv("GREETING") + "|" + info)
		fmt.Printf(`{"kind":"ExecCredential","apiVersion":%q,"status":{"token":%s}}`, q.APIVersion, token)
	case "leak": // prints a token once, and then fails with it on standard error
		data, _ := os.ReadFile(args[0])
		if data == nil {
			token := "short-one"
			_ = os.WriteFile(args[0], []byte(token), 0o600)
			fmt.Printf(`{"kind":"ExecCredential","apiVersion":%q,"status":{"token":%q}}`, V1, token)
			return 0
		}
		fmt.Fprintf(os.Stderr, "refused: %s", data)
		return 1
	case "fail": // fails with a message
		fmt.Fprint(os.Stderr, args[0])
		return 3
	case "hang": // adds a line to the journal, and then hangs
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
		logRun(args[0])
		time.Sleep(time.Hour) // in a separate process, which the test kills
	case "flood":
		for {
			if _, err := fmt.Print(strings.Repeat("x", 1<<16)); err != nil {
				return 1
			}
		}
	}
	return 0
}

func logRun(path string) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(f, os.Getpid())
		f.Close()
	}
}
