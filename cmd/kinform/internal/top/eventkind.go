package top

// eventKind is what has happened to an object. It has a letter and a colour, and either of them is
// sufficient to recognize it.
type eventKind struct {
	letter string
	style  style
	text   string
}

// kinds maps the name that a stage gives to an event to the event's kind. Stages name one kind
// differently: both "ADDED" and "Added" are of the kind added.
var kinds = map[string]eventKind{
	"ADDED": added, "Added": added, "MODIFIED": modified, "Updated": modified, "DELETED": deleted, "Deleted": deleted,
	"Replaced": listed, "decoded": listed, "unchanged": unchanged, "Sync": resynced, "BOOKMARK": bookmark,
}

var (
	added     = eventKind{"+", kindAdded, "added"}
	modified  = eventKind{"~", kindModified, "modified"}
	deleted   = eventKind{"-", kindDeleted, "deleted"}
	listed    = eventKind{"=", kindListed, "listed"}
	unchanged = eventKind{".", kindUnchanged, "listed, unchanged: not decoded"}
	resynced  = eventKind{"s", kindSync, "resync: no change"}
	bookmark  = eventKind{"b", kindBookmark, "bookmark: a version, no object"}
	keyKind   = eventKind{"k", kindKey, "a key"}

	legend = []eventKind{added, modified, deleted, listed, unchanged, resynced, bookmark, keyKind}
)

func kindOf(word string) eventKind {
	if k, ok := kinds[word]; ok {
		return k
	}
	return keyKind
}

func (k eventKind) letterSpan() span { return span{k.letter, k.style} }
