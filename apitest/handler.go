package apitest

import (
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.handlers.enter() {
		writeStatus(w, r, errStatus(apierrors.NewServiceUnavailable("the server is closed")))
		return
	}
	defer s.handlers.active.Done()
	s.begin()

	if s.opts.Admit != nil {
		if err := s.opts.Admit(r); err != nil {
			writeStatus(w, r, errStatus(err))
			return
		}
	}
	req, resourcePath := parseRequest(r)
	if resourcePath {
		req.res = s.store.resource(req.groupVersionResource())
	}
	if s.opts.OnRequest != nil {
		s.opts.OnRequest(req)
	}
	req.fate = s.faults.fate(&req)
	if req.fate.delay > 0 && !sleep(req.fate.delay, r.Context().Done(), s.closed) {
		panic(http.ErrAbortHandler) // because a return would respond with 200
	}
	w = spoil(w, req.fate, r.Context().Done(), s.closed)
	user, known := s.identify(r)
	var refused error
	if known {
		if req.user, refused = s.impersonated(user, r); refused == nil {
			refused = s.authorized(req.user, attributesOf(&req))
		}
	}
	switch {
	case req.fate.answer != nil:
		req.fate.answer(&response{w, &req})
	case !known:
		writeStatus(w, r, errStatus(errUnauthorized()))
	case refused != nil:
		writeStatus(w, r, errStatus(refused))
	case !resourcePath:
		s.discover(w, r)
	case req.res == nil && s.store.builtin(req.Group, req.Version):
		writeStatus(w, r, errStatus(errNoResource()))
	case req.res == nil:
		http.NotFound(w, r)
	default:
		if err := s.answer(w, &req); err != nil {
			writeStatus(w, r, errStatus(err))
		}
	}
}

// answer responds to a request for a served resource. If it returns an error, the error has not
// been written to the response yet.
func (s *Server) answer(w http.ResponseWriter, req *Request) error {
	res := req.res
	if err := req.validateOptions(); err != nil {
		return err
	}
	if res.call != nil {
		if err := errUnserved(req); err != nil {
			return err
		}
		return res.call(s, w, req)
	}
	i := slices.IndexFunc(res.subresources(), func(sub subresource) bool { return sub.name == req.Subresource })
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
		return res.subresources()[i].answer(s, w, req)
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
	if req.Subresource != "" || !slices.Contains(res.verbs(), req.Verb) {
		return errMethodNotAllowed()
	}
	if req.Verb == "delete" {
		return s.delete(w, req)
	}
	return s.deleteCollection(w, req)
}
