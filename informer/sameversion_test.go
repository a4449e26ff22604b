package informer_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
)

// Some aggregated API servers give every state of an object the same version, such as "1". An event
// with the known version is a change if its object differs from the stored object.
func TestAChangeWithoutANewVersionIsAChange(t *testing.T) { // D11
	for name, listed := range map[string]string{"the list has another version": "100", "the list has the same version": "1"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := newFake(listed, item("a", "1", "first"), item("b", "1", "other"))
				var log bytes.Buffer
				inf := newInformer(t, source, informer.Options[*obj]{Name: "zones", Logger: slog.New(slog.NewTextHandler(&log, nil))})
				var received eventLines
				_, err := inf.AddHandler(func(e informer.Event[*obj]) { received.write(describeEvent(e)) }, informer.HandlerOptions{})
				require.NoError(t, err)
				stop := start(t, inf)
				synctest.Wait()
				received.read()

				for _, v := range []string{"second", "second", "third"} {
					source.Events <- ev(listwatch.Modified, "a", "1", v)
					synctest.Wait()
				}
				require.Equal(t, []string{"Updated watch first>second", "Updated watch second>third"}, received.read())
				stored, ok := inf.Store().Get(item("a", "", "").Key)
				require.True(t, ok)
				require.Equal(t, "third", stored.v)
				require.NoError(t, inf.Healthy(0))

				stop()
				require.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
				require.Contains(t, log.String(), `level=WARN msg="The server changed an object without changing its version: lists don't show such changes" informer=zones key=/a version=1`)
			})
		})
	}
}
