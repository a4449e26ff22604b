package top

// kind is what has happened to an object. It has a letter and a colour, and either of them is
// sufficient to recognize it.
type kind struct {
	letter string
	style  style
	text   string
}

// kinds maps the words of the stages to kinds.
var kinds = map[string]kind{
	"ADDED": added, "Added": added, "MODIFIED": modified, "Updated": modified, "DELETED": deleted, "Deleted": deleted,
	"Replaced": listed, "decoded": listed, "unchanged": unchanged, "Sync": resynced, "BOOKMARK": bookmark,
}

var (
	added     = kind{"+", kindAdded, "added"}
	modified  = kind{"~", kindModified, "modified"}
	deleted   = kind{"-", kindDeleted, "deleted"}
	listed    = kind{"=", kindListed, "listed"}
	unchanged = kind{".", kindUnchanged, "listed, unchanged: not decoded"}
	resynced  = kind{"s", kindSync, "resync: no change"}
	bookmark  = kind{"b", kindBookmark, "bookmark: a version, no object"}
	aKey      = kind{"k", kindKey, "a key"}

	legend = []kind{added, modified, deleted, listed, unchanged, resynced, bookmark, aKey}
)

func kindOf(word string) kind {
	if k, ok := kinds[word]; ok {
		return k
	}
	return aKey
}

func (k kind) mark() span { return span{k.letter, k.style} }
