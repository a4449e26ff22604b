package apitest

import (
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kinform/kinform/apitest/internal/discovery"
	"github.com/kinform/kinform/apitest/internal/wire"
)

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.inFlight.begin() {
		wire.WriteStatus(w, r, wire.StatusOf(apierrors.NewServiceUnavailable("the server is closed")))
		return
	}
	defer s.inFlight.active.Done()
	s.startLoops()

	if s.opts.Admit != nil {
		if err := s.opts.Admit(r); err != nil {
			wire.WriteStatus(w, r, wire.StatusOf(err))
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
		wire.WriteStatus(w, r, wire.StatusOf(wire.NewUnauthorized()))
	case refused != nil:
		wire.WriteStatus(w, r, wire.StatusOf(refused))
	case !resourcePath:
		s.serveNonResource(w, r)
	case req.res == nil && s.store.HasBuiltin(req.Group, req.Version):
		wire.WriteStatus(w, r, wire.StatusOf(wire.NewNoResource()))
	case req.res == nil:
		http.NotFound(w, r)
	default:
		if err := s.serveResource(w, &req); err != nil {
			wire.WriteStatus(w, r, wire.StatusOf(err))
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
	i := slices.IndexFunc(subresourcesOf(res), func(sub subresource) bool { return sub.Name == req.Subresource })
	if req.Subresource != "" && i < 0 && (req.Subresource != "status" || !res.Status) {
		return wire.NewNoResource()
	}
	if res.ClusterScoped && req.Namespace != "" || !res.ClusterScoped && req.Namespace == "" && req.Name != "" {
		return wire.NewNoResource()
	}
	if !res.ClusterScoped && req.Namespace == "" && req.Verb != "list" && req.Verb != "watch" {
		return wire.NewMethodNotAllowed()
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
	if req.Subresource != "" || !slices.Contains(discovery.Verbs(res), req.Verb) {
		return wire.NewMethodNotAllowed()
	}
	if req.Verb == "delete" {
		return s.delete(w, req)
	}
	return s.deleteCollection(w, req)
}
