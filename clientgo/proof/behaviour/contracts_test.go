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
	"TestAPanickingHandlerSyncs":                           "D10: who waits for the handler would wait for ever",
	"TestAnIndexDropsTheOldValueOfAnObjectChangedInPlace":  "D14: the index would find an object by a value that it does not have",
	"TestAFailedResyncDoesNotEndTheWatch":                  "RC-32: client-go lists again for each",
	"TestResyncsContinueAfterAPanic":                       "the process ends, although panics are not to end it",
	"TestResyncsOfAControllerContinueAfterAPanic":          "the process ends, although panics are not to end it",
	"TestAReflectorContinuesAfterGoexit":                   "a list is waited for for ever, and there are no more resyncs",
	"TestASharedInformerContinuesAfterGoexit":              "the informer, or the handler, has ended in silence",
	"TestASingleHandlerInformerContinuesAfterGoexit":       "the informer has ended in silence",
	"TestAControllerContinuesAfterGoexit":                  "the controller has ended in silence",
	"TestHandlersAreNotifiedOfAnObjectThatCannotBeIndexed": "the store has it, and no handler hears of it",
	"TestAPanicOfAListShowsItsStack":                       "nobody can see where the list function has panicked",
	"TestAdaptersAreNamedAfterTheirHandlers":               "logs cannot tell them apart",
	"TestAnAddedObjectIsReturnedMoreThanOnce":              "IX-19: client-go's MutationCache forgets it when it is read",
	"TestByIndexReturnsNothingOlderThanTheStore":           "IX-19: client-go's MutationCache does not ask the store",
	"TestABookmarkWithoutAVersionMovesNothing":             "the next watch begins at no version, and shows no deletion that it has missed",
	"TestADeletionOfAnObjectFromAWatchIsNotMissed":         "RC-24: the phantom stays in the store",
	"TestATrackerExpiresVersionsBeforeManyDeletions":       "client-go's tracker remembers no deletion, and shows none",
	"TestATrackerLosesNoDeletionBeforeAWatch":              "kubernetes/kubernetes#141528: the phantom stays in the store",
	"TestAStreamingListWithoutEndMarkerIsReplacedByAList":  "D6: the reflector waits for ever",
	"TestALostWatchWithoutAVersionLosesNoEvents":           "RC-24: a watch from no version does not show what was deleted; client-go opens it, and keeps the object for ever",
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
