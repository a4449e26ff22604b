package apitest

import "net/http"

func isHealth(path string) bool {
	return path == "/healthz" || path == "/readyz" || path == "/livez"
}

func (s *Server) discover(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
