package csaupgrade_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// entries parses words of manager:operation:subresource:second:fields.
func entries(s string) (found []metav1.ManagedFieldsEntry) {
	for word := range strings.FieldsSeq(s) {
		p := strings.Split(word, ":")
		at := metav1.NewTime(time.Unix(int64(p[3][0]-'0'), 0).UTC())
		e := metav1.ManagedFieldsEntry{
			Manager: p[0], Operation: metav1.ManagedFieldsOperationType(p[1]), Subresource: p[2], Time: &at, FieldsType: "FieldsV1", APIVersion: "v1",
		}
		switch p[4] {
		case "NIL":
		case "BAD":
			e.FieldsV1 = metav1.NewFieldsV1("[")
		default:
			e.FieldsV1 = metav1.NewFieldsV1(`{"f:` + strings.ReplaceAll(p[4], ",", `":{},"f:`) + `":{}}`)
		}
		found = append(found, e)
	}
	return found
}

// words is the reverse of entries.
func words(entries []metav1.ManagedFieldsEntry) string {
	var found []string
	for _, e := range entries {
		fields := "NIL"
		if e.FieldsV1 != nil {
			fields = strings.NewReplacer(`"f:`, "", `":{}`, "", "{", "", "}", "", "[", "BAD").Replace(e.FieldsV1.GetRawString())
		}
		found = append(found, fmt.Sprintf("%s:%s:%s:%d:%s", e.Manager, e.Operation, e.Subresource, e.Time.Unix(), fields))
	}
	return strings.Join(found, " ")
}

func TestUpgradeMovesOwnershipToTheNewManager(t *testing.T) {
	// each result but the last is client-go's
	for _, c := range []struct{ before, from, subresource, after string }{
		{"csa:Update::5:a,b", "csa", "", "ssa:Apply::5:a,b"},
		{"ssa:Apply::4:x csa:Update::5:a,b", "csa", "", "ssa:Apply::4:a,b,x"},
		{"csa:Update::5:a,b ssa:Apply::4:x", "csa", "", "ssa:Apply::4:a,b,x"},
		{"csa:Update::5:a,b o:Update::3:z csa2:Update::6:c", "csa csa2", "", "ssa:Apply::5:a,b,c o:Update::3:z"},
		{"csa2:Update::6:c o:Update::3:z csa:Update::5:a,b ssa:Apply::4:x", "csa csa2", "", "o:Update::3:z ssa:Apply::4:a,b,c,x"},
		{"csa:Apply::5:a csa:Update::6:b", "csa", "", "csa:Apply::5:a ssa:Apply::6:b"},
		{"csa:Apply::5:a", "csa", "", ""},
		{"csa:Update:status:5:a csa:Update::6:b", "csa", "", "csa:Update:status:5:a ssa:Apply::6:b"},
		{"csa:Update:status:5:a csa:Update::6:b", "csa", "status", "ssa:Apply:status:5:a csa:Update::6:b"},
		{"csa:Update:status:5:a ssa:Apply::4:x", "csa", "", ""},
		{"csa:Update:status:5:a ssa:Apply:status:4:x csa:Update::6:b", "csa", "status", "ssa:Apply:status:4:a,x csa:Update::6:b"},
		{"ssa:Apply:status:4:x csa:Update::6:b", "csa", "", "ssa:Apply:status:4:x ssa:Apply::6:b"},
		{"ssa:Update::4:x csa:Update::6:b", "csa", "", "ssa:Update::4:x ssa:Apply::6:b"},
		{"ssa:Update::4:x ssa:Apply::4:y", "ssa", "", "ssa:Apply::4:x,y"},
		{"ssa:Apply::4:y", "ssa", "", ""},
		{"o:Update::4:x", "csa", "", ""},
		{"", "csa", "", ""},
		{"ssa:Apply::1:y csa:Update::4:a ssa:Apply::2:z", "csa", "", "ssa:Apply::1:a,y ssa:Apply::2:z"},
		{"o:Update::4:BAD csa:Update::4:b", "csa", "", "o:Update::4:BAD ssa:Apply::4:b"},
		// client-go drops field c
		{"csa:Update::5:a csa:Update::6:b csa:Update::4:c", "csa", "", "ssa:Apply::5:a,b,c"},
	} {
		object := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x", ResourceVersion: "7", ManagedFields: entries(c.before)}}
		from := sets.New(strings.Fields(c.from)...)
		patch, err := csaupgrade.UpgradeManagedFieldsPatch(object, from, "ssa", csaupgrade.Subresource(c.subresource))
		if !strings.Contains(c.before, "BAD") {
			require.NoError(t, err)
			require.Equal(t, c.after == "", patch == nil, c.before)
		}
		require.Equal(t, c.before, words(object.ManagedFields), "the object is unchanged")
		require.NoError(t, csaupgrade.UpgradeManagedFields(object, from, "ssa", csaupgrade.Subresource(c.subresource)))
		if c.after == "" {
			c.after = c.before
		}
		require.Equal(t, c.after, words(object.ManagedFields), c.before)
	}
}

// A path of one version may have no meaning in another version.
func TestFieldsOfAnotherVersionAreNotMoved(t *testing.T) { // as in client-go
	for before, after := range map[string]string{
		"ssa:Apply::4:x csa:Update::5:a":  "ssa:Apply::4:x",
		"csa:Update::5:a ssa:Apply::4:x":  "ssa:Apply::4:x",
		"csa:Update::5:a csa:Update::6:b": "ssa:Apply::5:a",
	} {
		object := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ManagedFields: entries(before)}}
		object.ManagedFields[1].APIVersion = "v2"
		require.NoError(t, csaupgrade.UpgradeManagedFields(object, sets.New("csa"), "ssa"))
		require.Equal(t, after, words(object.ManagedFields), before)
	}
}

func TestThePatchHasTheResourceVersion(t *testing.T) { // in client-go's bytes
	object := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "7", ManagedFields: entries("csa:Update::5:a,b")}}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(object, sets.New("csa"), "ssa")
	require.NoError(t, err)
	require.Equal(t, `[{"op":"replace","path":"/metadata/managedFields","value":[{"manager":"ssa","operation":"Apply","apiVersion":"v1",`+
		`"time":"1970-01-01T00:00:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:a":{},"f:b":{}}}]},{"op":"replace","path":"/metadata/resourceVersion","value":"7"}]`, string(patch))
}

func TestUndecodableFieldsChangeNothing(t *testing.T) {
	for _, before := range []string{
		"csa:Update::4:BAD", "csa:Update::4:BAD ssa:Apply::4:y", "csa:Update::4:b ssa:Apply::4:BAD", "csa:Update::4:NIL", "csa:Update::4:NIL ssa:Apply::4:y",
	} {
		object := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ManagedFields: entries(before)}}
		require.ErrorContains(t, csaupgrade.UpgradeManagedFields(object, sets.New("csa"), "ssa"), "fields of manager", before)
		require.Equal(t, before, words(object.ManagedFields))
		_, err := csaupgrade.UpgradeManagedFieldsPatch(object, sets.New("csa"), "ssa")
		require.Error(t, err)
	}
	require.Error(t, csaupgrade.UpgradeManagedFields(&v1.PodList{}, sets.New("csa"), "ssa"))
	_, err := csaupgrade.UpgradeManagedFieldsPatch(&v1.PodList{}, sets.New("csa"), "ssa")
	require.Error(t, err)
}

func TestFindFieldsOwners(t *testing.T) { // each result is client-go's
	all := entries("a:Update::1:x,y b:Update:status:2:x c:Apply::3:x,y,z d:Update::4:BAD e:Update::5:NIL")
	for _, c := range []struct{ fields, updates, applies string }{
		{"x", "a:Update::1:x,y b:Update:status:2:x", "c:Apply::3:x,y,z"},
		{"x y", "a:Update::1:x,y", "c:Apply::3:x,y,z"},
		{"z", "", "c:Apply::3:x,y,z"},
		{"", "a:Update::1:x,y b:Update:status:2:x", "c:Apply::3:x,y,z"},
		{"q", "", ""},
	} {
		fields := fieldpath.NewSet()
		for name := range strings.FieldsSeq(c.fields) {
			fields.Insert(fieldpath.MakePathOrDie(name))
		}
		require.Equal(t, c.updates, words(csaupgrade.FindFieldsOwners(all, metav1.ManagedFieldsOperationUpdate, fields)))
		require.Equal(t, c.applies, words(csaupgrade.FindFieldsOwners(all, metav1.ManagedFieldsOperationApply, fields)))
	}
}
