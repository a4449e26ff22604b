package apitest

import (
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.inFlight.begin() {
		writeStatus(w, r, errStatus(apierrors.NewServiceUnavailable("the server is closed")))
		return
	}
	defer s.inFlight.active.Done()
	s.startLoops()

	if s.opts.Admit != nil {
		if err := s.opts.Admit(r); err != nil {
			writeStatus(w, r, errStatus(err))
			return
		}
	}
	req, resourcePath := parseRequest(r)
	if resourcePath {
		req.res = s.store.Resource(req.groupVersionResource())
	}
	if s.opts.OnRequest != nil {
		s.opts.OnRequest(req)
	}
	req.effects = s.faults.effectsOn(&req)
	if req.effects.delay > 0 && !sleep(req.effects.delay, r.Context().Done(), s.closed) {
		panic(http.ErrAbortHandler) // If the handler returned, the client would get 200.
	}
	w = withFaults(w, req.effects, r.Context().Done(), s.closed)
	user, known := s.authenticate(r)
	var refused error
	if known {
		if req.user, refused = s.impersonate(user, r); refused == nil {
			refused = s.authorize(req.user, attributesOf(&req))
		}
	}
	switch {
	case req.effects.respond != nil:
		req.effects.respond(&response{w, &req})
	case !known:
		writeStatus(w, r, errStatus(errUnauthorized()))
	case refused != nil:
		writeStatus(w, r, errStatus(refused))
	case !resourcePath:
		s.serveNonResource(w, r)
	case req.res == nil && s.store.HasBuiltin(req.Group, req.Version):
		writeStatus(w, r, errStatus(errNoResource()))
	case req.res == nil:
		http.NotFound(w, r)
	default:
		if err := s.serveResource(w, &req); err != nil {
			writeStatus(w, r, errStatus(err))
		}
	}
}

// serveResource responds to a request for a served resource. If it returns an error, it has written
// no response, and the caller must write one.
func (s *Server) serveResource(w http.ResponseWriter, req *Request) error {
	res := req.res
	if err := req.validateOptions(); err != nil {
		return err
	}
	if res.PostOnly {
		if err := checkPostPath(req); err != nil {
			return err
		}
		return s.servePost(w, req, res, postHandlerOf(res))
	}
	i := slices.IndexFunc(subresourcesOf(res), func(sub subresource) bool { return sub.name == req.Subresource })
	if req.Subresource != "" && i < 0 && (req.Subresource != "status" || !res.Status) {
		return errNoResource()
	}
	if res.ClusterScoped && req.Namespace != "" || !res.ClusterScoped && req.Namespace == "" && req.Name != "" {
		return errNoResource()
	}
	if !res.ClusterScoped && req.Namespace == "" && req.Verb != "list" && req.Verb != "watch" {
		return errMethodNotAllowed()
	}
	if i >= 0 {
		return subresourcesOf(res)[i].serve(s, w, req)
	}
	switch req.Verb {
	case "list":
		return s.list(w, req)
	case "watch":
		return s.watch(w, req)
	case "get":
		return s.get(w, req)
	case "create":
		return s.create(w, req)
	case "update":
		return s.update(w, req)
	case "patch":
		return s.patch(w, req)
	}
	if req.Subresource != "" || !slices.Contains(verbsOf(res), req.Verb) {
		return errMethodNotAllowed()
	}
	if req.Verb == "delete" {
		return s.delete(w, req)
	}
	return s.deleteCollection(w, req)
}
