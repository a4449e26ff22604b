package sources

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// newLoggedHealth returns the health of two parts, and its log.
func newLoggedHealth() (*partsHealth, *bytes.Buffer) {
	var log bytes.Buffer
	return newPartsHealth([]string{"a", "b"}, slog.New(slog.NewTextHandler(&log, nil))), &log
}

// A part that fails and recovers again and again does not fill the log.
func TestPartThatFlapsIsLoggedSeldom(t *testing.T) {
	for bad, missing := range map[time.Duration]bool{
		6 * time.Second: false, 60 * time.Second: false, 240 * time.Second: false, 2 * time.Second: true, 30 * time.Second: true,
	} {
		t.Run(fmt.Sprint(bad, missing), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, log := newLoggedHealth()
				for began := time.Now(); time.Since(began) < time.Hour; time.Sleep(time.Second) {
					for first := time.Now(); time.Since(first) <= bad; time.Sleep(time.Second) {
						h.failed(0, errors.New("no"), false, missing)
					}
					h.recovered(0)
				}
				lines := strings.Count(log.String(), "\n")
				require.Greater(t, lines, 12)
				require.LessOrEqual(t, lines, 50)
			})
		})
	}
}

func TestPartThatFailsDifferentlyIsLoggedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, log := newLoggedHealth()
		for range 10 {
			h.failed(0, apierrors.NewServiceUnavailable("down"), false, false)
			time.Sleep(time.Second)
		}
		require.Equal(t, 1, strings.Count(log.String(), "\n"))
		for range 10 {
			h.failed(0, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", nil), false, false)
			time.Sleep(time.Second)
		}
		require.Equal(t, 2, strings.Count(log.String(), "\n"), log)
		h.recovered(0)
		h.recovered(0)
		require.Equal(t, 3, strings.Count(log.String(), "\n"))
	})
}
