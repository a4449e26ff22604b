package tables

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/duration"
)

func percentText(n *int32) string {
	if n == nil {
		return "<unknown>"
	}
	return decimal(*n) + "%"
}

func replicaText(n *int32) string {
	if n == nil {
		return "<unset>"
	}
	return decimal(*n)
}

// containerCells returns the names and the images of containers.
func containerCells(spec corev1.PodSpec) (names, images string) {
	var n, i []string
	for _, c := range spec.Containers {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}

func labelText(set map[string]string) string { return labels.FormatLabels(set) }

func selectorText(s *metav1.LabelSelector) string { return metav1.FormatLabelSelector(s) }

func modeText(modes []corev1.PersistentVolumeAccessMode) string {
	var short []string
	for _, mode := range []struct {
		mode corev1.PersistentVolumeAccessMode
		text string
	}{{corev1.ReadWriteOnce, "RWO"}, {corev1.ReadOnlyMany, "ROX"}, {corev1.ReadWriteMany, "RWX"}, {corev1.ReadWriteOncePod, "RWOP"}} {
		if slices.Contains(modes, mode.mode) {
			short = append(short, mode.text)
		}
	}
	return strings.Join(short, ",")
}

// joinFirst joins the first n entries of a list. If there are more, it appends their number.
func joinFirst(list []string, n int) string {
	text := strings.Join(list[:min(n, len(list))], ",")
	if more := len(list) - n; more > 0 {
		text += fmt.Sprintf(" + %d more...", more)
	}
	return text
}

func orUnset(s string) string { return or(s, "<unset>") }

// sortedUnique sorts a list and drops duplicates.
func sortedUnique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

func decimal(n int32) string { return strconv.Itoa(int(n)) }

// age returns how long ago t was, in the format of kubectl.
func age(t metav1.Time) string { return ageOf(t.Time) }

func ageOf(t time.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(time.Since(t))
}

// orNone shows empty text as <none>.
func orNone(s string) string { return or(s, "<none>") }

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
