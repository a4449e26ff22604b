package discovery

import (
	"bytes"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxObjects limits the number of objects in a document. An empty object takes a hundred times as
// much memory as its JSON. A server with a thousand CRDs sends twenty thousand objects.
const maxObjects = 1_000_000

// maxVersions limits how many requests one legacy document causes, one for each version of a group.
// A busy cluster has a hundred versions.
const maxVersions = 10_000

// checkVersions returns an error if a legacy document has more than maxVersions versions.
func checkVersions(path string, groups *metav1.APIGroupList) error {
	n := 0
	for i := range groups.Groups {
		n += len(groups.Groups[i].Versions)
	}
	if n > maxVersions {
		return fmt.Errorf("the document %s has %d group versions, which is more than %d", path, n, maxVersions)
	}
	return nil
}

// checkSize returns an error if a document has more than maxObjects objects. It counts each "{" and
// each null as an object, without parsing the document.
func checkSize(path string, document []byte) error {
	if n := bytes.Count(document, []byte("{")) + bytes.Count(document, []byte("null")); n > maxObjects {
		return fmt.Errorf("the document %.300s has %d objects in %d bytes, which is more than %d", path, n, len(document), maxObjects)
	}
	return nil
}
