package behaviour

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/clientgo/proof/internal/sides"
)

// clientGoViolations has the tests of contracts that client-go violates, with the reasons why
// clientgo differs.
var clientGoViolations = map[string]string{
	"TestAPanickingHandlerSyncs":                           "D10: a caller that waits for the handler's sync waits forever",
	"TestAnIndexDropsTheOldValueOfAnObjectChangedInPlace":  "D14: the index finds an object under a value that the object does not have",
	"TestAFailedResyncDoesNotEndTheWatch":                  "RC-32: client-go lists again after each failed resync",
	"TestResyncsContinueAfterAPanic":                       "the process ends, although panics must not end it",
	"TestResyncsOfAControllerContinueAfterAPanic":          "the process ends, although panics must not end it",
	"TestAReflectorContinuesAfterGoexit":                   "the reflector waits for the list forever, and resyncs stop",
	"TestASharedInformerContinuesAfterGoexit":              "the informer or the handler ends without an error",
	"TestASingleHandlerInformerContinuesAfterGoexit":       "the informer ends without an error",
	"TestAControllerContinuesAfterGoexit":                  "the controller ends without an error",
	"TestHandlersAreNotifiedOfAnObjectThatCannotBeIndexed": "the store has the object, and no handler is notified of it",
	"TestAPanicOfAListShowsItsStack":                       "the output does not show where the list function has panicked",
	"TestAdaptersAreNamedAfterTheirHandlers":               "all adapters have the same name in logs",
	"TestAnAddedObjectIsReturnedMoreThanOnce":              "IX-19: client-go's MutationCache drops an object when it is read",
	"TestByIndexReturnsNothingOlderThanTheStore":           "IX-19: client-go's MutationCache does not compare the object with the store",
	"TestABookmarkWithoutAVersionMovesNothing":             "the next watch begins without a version, and does not report missed deletions",
	"TestADeletionOfAnObjectFromAWatchIsNotMissed":         "RC-24: the deleted object stays in the store",
	"TestATrackerExpiresVersionsBeforeManyDeletions":       "client-go's tracker does not keep deletions, so a watch cannot report them",
	"TestATrackerLosesNoDeletionBeforeAWatch":              "kubernetes/kubernetes#141528: the deleted object stays in the store",
	"TestAStreamingListWithoutEndMarkerIsReplacedByAList":  "D6: the reflector waits forever",
	"TestALostWatchWithoutAVersionLosesNoEvents":           "RC-24: client-go watches without a version, misses the deletion, and keeps the object forever",
}

func TestClientGoFulfilsTheContracts(t *testing.T) {
	binary := build(t, "./contracts", sides.ClientGo)
	listed, err := exec.Command(binary, "-test.list=.").Output()
	require.NoError(t, err)
	names := strings.Fields(string(listed))
	require.Greater(t, len(names), 50)
	for name := range clientGoViolations {
		require.Contains(t, names, name)
		out, err := exec.Command(binary, "-test.run=^"+name+"$", "-test.timeout=1m").CombinedOutput()
		require.Error(t, err, "client-go meets this contract, but it is listed as a violation: %s", out)
	}
	var known []string
	for name := range clientGoViolations {
		known = append(known, name)
	}
	out, err := exec.Command(binary, "-test.skip=^("+strings.Join(known, "|")+")$", "-test.timeout=2m").CombinedOutput()
	require.NoError(t, err, "client-go violates a contract that is not listed as a violation: %s", out)
	t.Logf("client-go meets %d contracts and violates %d", len(names)-len(clientGoViolations), len(clientGoViolations))
}
