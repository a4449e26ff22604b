package laboratory

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kinform/kinform/view/lab"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start runs the command, and returns the address of its page and the token.
func start(t *testing.T, args ...string) (url, token string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		cmd := Command()
		cmd.SetArgs(args)
		cmd.SetOut(writer)
		err := cmd.ExecuteContext(ctx)
		writer.CloseWithError(err)
		ended <- err
	}()
	said := make([]byte, 1024)
	n, err := reader.Read(said)
	require.NoError(t, err)
	go io.Copy(io.Discard, reader)
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
		http.DefaultClient.CloseIdleConnections()
	})
	found := regexp.MustCompile(`(?s)at (http://127\.0\.0\.1:\d+/)#code=\S+\n.*token: (\S+)\n`).FindSubmatch(said[:n])
	require.NotNil(t, found, "%s", said[:n])
	return string(found[1]), string(found[2])
}

func TestButtonsNeedThePrintedToken(t *testing.T) {
	url, token := start(t, "--pods", "5", "--listen", "127.0.0.1:0")
	for given, code := range map[string]int{token: http.StatusOK, "": http.StatusUnauthorized, "another": http.StatusUnauthorized} {
		request, err := http.NewRequest(http.MethodPost, url+"do", strings.NewReader(`{"action":"create","values":{"n":"3"}}`))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+given)
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, code, answer.StatusCode, "%s", body)
		if code == http.StatusOK {
			require.JSONEq(t, `{"done":"3 pods were created"}`, string(body))
		}
	}
}

func TestInvalidFlags(t *testing.T) {
	for want, args := range map[string][]string{
		`--listen: "0.0.0.0:8001" is not an address on loopback`: {"--listen", "0.0.0.0:8001"},
		`--listen: ":8001" is not an address on loopback`:        {"--listen", ":8001"},
		`--pods is -1: it must be at least 0`:                    {"--pods", "-1"},
		`--workers is 17: it must be from 1 to 16`:               {"--workers", "17"},
		`--workers is 0: it must be from 1 to 16`:                {"--workers", "0"},
		`--window is 0: it must be at least 1`:                   {"--window", "0"},
		`--rate is -1: it must be from 0 to 5000`:                {"--rate", "-1"},
		`--rate is 5001: it must be from 0 to 5000`:              {"--rate", "5001"},
		`unknown command "now"`:                                  {"now"},
	} {
		cmd := Command()
		cmd.SetArgs(args)
		cmd.SetOut(&bytes.Buffer{})
		cmd.SetErr(&bytes.Buffer{})
		require.ErrorContains(t, cmd.Execute(), want)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteErrorEndsTheLaboratory(t *testing.T) {
	cmd := Command()
	cmd.SetArgs([]string{})
	cmd.SetOut(fullDisk{})
	require.EqualError(t, cmd.ExecuteContext(t.Context()), "disk full")
}

// The laboratory accepts the largest values that its flags accept.
func TestLargestFlagValuesAreAccepted(t *testing.T) {
	for _, opts := range []lab.Options{{Workers: 1}, {Workers: maxWorkers}, {Rate: maxRate}} {
		_, err := lab.New(opts)
		require.NoError(t, err)
	}
	for _, opts := range []lab.Options{{Workers: maxWorkers + 1}, {Rate: maxRate + 1}} {
		_, err := lab.New(opts)
		require.Error(t, err)
	}
}
