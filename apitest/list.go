package apitest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/wire"
)

// continuation is the content of a continue token.
type continuation struct {
	// Version is the version of the first page, or -1 for the current state. The server sends a
	// token with -1 in the error that says that the state of the first page is gone.
	Version int64 `json:"rv"`

	// After is the last key of the previous page.
	After types.NamespacedName `json:"after"`
}

func (c continuation) String() string {
	return base64.RawURLEncoding.EncodeToString(apiobject.MustJSON(c))
}

func parseContinuation(token string) (c continuation, err error) {
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return c, apierrors.NewBadRequest("continue key is not valid: " + err.Error())
	}
	return c, nil
}

func (s *Server) list(w http.ResponseWriter, req *Request) error {
	f, sel, err := req.parseCollection()
	if err != nil {
		return err
	}
	p, err := s.page(req.res, sel, req.query)
	if err != nil {
		return err
	}
	if i := req.effects.undecodable - 1; i >= 0 && i < len(p.Items) && !f.Table {
		p.Items[i] = p.Items[i].Undecodable()
	}
	return f.WriteList(w, req.res, p)
}

// page returns the objects of a list. The page "API concepts" of the Kubernetes documentation has a
// table of all combinations of resourceVersion, resourceVersionMatch and limit.
func (s *Server) page(res *storage.Resource, sel storage.Selection, query url.Values) (wire.Page, error) {
	if err := validateList(query); err != nil {
		return wire.Page{}, err
	}
	version, err := parseVersion(query)
	if err != nil {
		return wire.Page{}, err
	}
	limit, err := strconv.ParseInt(orZero(query.Get("limit")), 10, 64)
	if err != nil {
		return wire.Page{}, apierrors.NewBadRequest("limit: " + err.Error())
	}
	if query.Get("resourceVersion") == "0" && !s.opts.PagedCacheLists {
		limit = 0
	}
	limit = max(limit, 0)
	var after types.NamespacedName
	objects, current := s.store.Snapshot(res)

	token, exact := query.Get("continue"), query.Get("resourceVersionMatch") == string(metav1.ResourceVersionMatchExact)
	switch {
	case token != "":
		objects, current, after, err = s.stateOfToken(res, token, query)
	case version > current:
		err = wire.NewTooLarge(version, current)
	case exact, version > 0 && limit > 0 && query.Get("resourceVersionMatch") == "":
		current = version
		var ok bool
		if objects, ok = s.store.SnapshotAt(res, version); !ok {
			err = wire.NewExpired(version, s.store.Oldest())
		}
	}
	if err != nil {
		return wire.Page{}, err
	}
	return newPage(res, objects, current, sel, after, int(limit)), nil
}

// stateOfToken returns the state to which a continue token refers.
func (s *Server) stateOfToken(res *storage.Resource, token string, query url.Values) (objects storage.SortedRevisions, version uint64, after types.NamespacedName, err error) {
	if v := query.Get("resourceVersion"); v != "" && v != "0" {
		return objects, 0, after, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	c, err := parseContinuation(token)
	if err != nil {
		return objects, 0, after, err
	}
	if c.Version < 0 {
		objects, version = s.store.Snapshot(res)
		return objects, version, c.After, nil
	}
	objects, ok := s.store.SnapshotAt(res, uint64(c.Version))
	if !ok {
		expired := apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. " +
			"You can start a new list without the continue parameter, or use the continue token in this response to retrieve " +
			"the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that " +
			"were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.")
		expired.ErrStatus.ListMeta.Continue = continuation{Version: -1, After: c.After}.String()
		return objects, 0, after, expired
	}
	return objects, uint64(c.Version), c.After, nil
}

// newPage selects the objects after a key, at most limit objects. A limit of 0 means all.
func newPage(res *storage.Resource, objects storage.SortedRevisions, version uint64, sel storage.Selection, after types.NamespacedName, limit int) wire.Page {
	p := wire.Page{Meta: metav1.ListMeta{ResourceVersion: strconv.FormatUint(version, 10)}}
	if sel.HasNoSelectors() && sel.Namespace == "" && limit == 0 {
		p.Items = make([]*storage.Revision, 0, objects.Len)
	}
	var remaining int64
	for rev := range objects.After(after, sel.Namespace) {
		if rev = rev.ConvertedTo(res); !sel.Matches(rev) {
			continue
		}
		if limit == 0 || len(p.Items) < limit {
			p.Items = append(p.Items, rev)
			continue
		}
		remaining++
		if !sel.HasNoSelectors() {
			break // There are more objects.
		}
	}
	if remaining > 0 {
		p.Meta.Continue = continuation{Version: int64(version), After: p.Items[len(p.Items)-1].Key}.String()
		if sel.HasNoSelectors() { // The real server does not count if there are selectors.
			p.Meta.RemainingItemCount = &remaining
		}
	}
	return p
}

// validateList checks the parameters of a list. It must run before all other checks, as on the real
// server.
func validateList(query url.Values) error {
	var errs field.ErrorList
	version := query.Get("resourceVersion")
	if match := query.Get("resourceVersionMatch"); match != "" {
		path := field.NewPath("resourceVersionMatch")
		if version == "" {
			errs = append(errs, field.Forbidden(path, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
		}
		if query.Get("continue") != "" {
			errs = append(errs, field.Forbidden(path, "resourceVersionMatch is forbidden when continue is provided"))
		}
		switch metav1.ResourceVersionMatch(match) {
		case metav1.ResourceVersionMatchNotOlderThan:
		case metav1.ResourceVersionMatchExact:
			if version == "0" {
				errs = append(errs, field.Forbidden(path, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`))
			}
		default:
			errs = append(errs, field.NotSupported(path, match, []string{"Exact", "NotOlderThan", ""}))
		}
	}
	if query.Get("sendInitialEvents") != "" {
		errs = append(errs, field.Forbidden(field.NewPath("sendInitialEvents"), "sendInitialEvents is forbidden for list"))
	}
	return wire.NewInvalidOptions("ListOptions", errs)
}

// parseVersion parses the parameter resourceVersion. Defaults to 0.
func parseVersion(query url.Values) (uint64, error) {
	text := query.Get("resourceVersion")
	version, err := strconv.ParseUint(orZero(text), 10, 64)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("resourceVersion: Invalid value: %q: %v", text, err))
	}
	return version, nil
}

func orZero(s string) string {
	if s == "" {
		return "0"
	}
	return s
}

// parseCollection parses a request for a collection. It returns the format of the response, and the
// selection.
func (r *Request) parseCollection() (wire.Format, storage.Selection, error) {
	f, err := r.negotiate()
	if err != nil {
		return f, storage.Selection{}, err
	}
	sel, err := storage.ParseSelection(r.res, r.Namespace, r.query)
	return f, sel, err
}
