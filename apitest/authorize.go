package apitest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// User is the identity of a client.
type User struct {
	Name string `json:"name"`

	// Groups are the groups of the user. Every client with a token or a certificate is also in
	// system:authenticated. A member of system:masters may do everything.
	Groups []string `json:"groups,omitempty"`

	// UID and Extra are further attributes of the user. Reviews report UID and Extra.
	UID   string              `json:"uid,omitempty"`
	Extra map[string][]string `json:"extra,omitempty"`
}

// Rule allows some users to make some requests. It corresponds to a role of RBAC together with its
// binding. A rule cannot forbid a request.
type Rule struct {
	// Users and Groups are the subjects of the rule. The user or group "*" means everyone.
	Users  []string `json:"users,omitempty"`
	Groups []string `json:"groups,omitempty"`

	// Namespaces are the namespaces of the rule. Defaults to all. Only a rule without Namespaces
	// allows cluster-scoped resources, lists of all namespaces, and paths outside of resources.
	Namespaces []string `json:"namespaces,omitempty"`

	// PolicyRule has the verbs, groups, resources, names and paths.
	rbacv1.PolicyRule `json:",inline"`
}

// Groups and users that the server treats specially.
const (
	groupMasters         = "system:masters"
	groupAuthenticated   = "system:authenticated"
	groupUnauthenticated = "system:unauthenticated"
	userAnonymous        = "system:anonymous"
)

// bootstrapRules are rules of every cluster: everyone may use discovery, and may review their own
// permissions.
var bootstrapRules = []Rule{
	{Groups: []string{groupAuthenticated, groupUnauthenticated}, PolicyRule: rbacv1.PolicyRule{
		Verbs: []string{"get"}, NonResourceURLs: []string{"/healthz", "/livez", "/readyz", "/version", "/version/"},
	}},
	{Groups: []string{groupAuthenticated}, PolicyRule: rbacv1.PolicyRule{
		Verbs: []string{"get"}, NonResourceURLs: []string{"/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*"},
	}},
	{Groups: []string{groupAuthenticated}, PolicyRule: rbacv1.PolicyRule{
		Verbs: []string{"create"}, APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"selfsubjectaccessreviews", "selfsubjectrulesreviews"},
	}},
	{Groups: []string{groupAuthenticated}, PolicyRule: rbacv1.PolicyRule{
		Verbs: []string{"create"}, APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"selfsubjectreviews"},
	}},
}

// attributes describe a request in the terms of rules: a verb on a resource or on a path.
type attributes struct {
	verb, path                            string
	group, version, resource, subresource string
	namespace, name                       string
}

// attributesOf returns the attributes of a request.
func attributesOf(req *Request) attributes {
	if req.Resource == "" {
		return attributes{verb: strings.ToLower(req.HTTP.Method), path: req.HTTP.URL.Path}
	}
	a := attributes{
		verb: req.Verb, group: req.Group, version: req.Version, resource: req.Resource, subresource: req.Subresource,
		namespace: req.Namespace, name: req.Name,
	}
	if a.group == "" && a.resource == "namespaces" {
		a.namespace = a.name // A request for a namespace counts as a request in that namespace.
	}
	if a.name == "" && a.verb != "create" && req.query.Has("fieldSelector") {
		if selector, err := fields.ParseSelector(req.query.Get("fieldSelector")); err == nil {
			a.name, _ = selector.RequiresExactMatch("metadata.name")
		}
	}
	return a
}

// authorize returns nil if the user may make the request, and otherwise an error with the real
// server's text.
func (s *Server) authorize(user User, a attributes) error {
	if s.allows(user, a) {
		return nil
	}
	message := fmt.Sprintf("User %q cannot %s path %q", user.Name, a.verb, a.path)
	if a.resource != "" {
		resource, where := a.resource, "at the cluster scope"
		if a.subresource != "" {
			resource += "/" + a.subresource
		}
		if a.namespace != "" {
			where = fmt.Sprintf("in the namespace %q", a.namespace)
		}
		message = fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", user.Name, a.verb, resource, a.group, where)
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: a.group, Resource: a.resource}, a.name, errors.New(message))
}

// allows reports whether the user may make the request. Without rules, everyone may do everything.
func (s *Server) allows(user User, a attributes) bool {
	if s.opts.Rules == nil || slices.Contains(user.Groups, groupMasters) {
		return true
	}
	allows := func(r Rule) bool { return r.appliesTo(user) && r.allows(a) }
	return slices.ContainsFunc(bootstrapRules, allows) || slices.ContainsFunc(s.opts.Rules, allows)
}

// appliesTo reports whether the user is a subject of the rule.
func (r Rule) appliesTo(user User) bool {
	return hasOrAny(r.Users, user.Name) || slices.Contains(r.Groups, "*") ||
		slices.ContainsFunc(user.Groups, func(group string) bool { return slices.Contains(r.Groups, group) })
}

// allows reports whether the rule allows the request to its subjects.
func (r Rule) allows(a attributes) bool {
	if !hasOrAny(r.Verbs, a.verb) {
		return false
	}
	if len(r.Namespaces) > 0 && (a.namespace == "" || !hasOrAny(r.Namespaces, a.namespace)) {
		return false
	}
	if a.resource == "" {
		return slices.ContainsFunc(r.NonResourceURLs, func(path string) bool {
			prefix, open := strings.CutSuffix(path, "*")
			return path == a.path || open && strings.HasPrefix(a.path, prefix)
		})
	}
	resource, any := a.resource, a.resource
	if a.subresource != "" {
		resource, any = a.resource+"/"+a.subresource, "*/"+a.subresource
	}
	return hasOrAny(r.APIGroups, a.group) && (hasOrAny(r.Resources, resource) || slices.Contains(r.Resources, any)) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, a.name))
}

// hasOrAny reports whether a list contains s or "*".
func hasOrAny(list []string, s string) bool {
	return slices.Contains(list, s) || slices.Contains(list, "*")
}

// authenticate returns the user that sent a request. If ok is false, the token is unknown, or a
// token is required and missing. Health checks need no token.
func (s *Server) authenticate(r *http.Request) (user User, ok bool) {
	anonymous := User{Name: userAnonymous, Groups: []string{groupUnauthenticated}}
	header := r.Header.Get("Authorization")
	switch token, bearer := strings.CutPrefix(header, "Bearer "); {
	case bearer && s.auth.isBearerToken(token):
		return admin(), true
	case bearer:
		if user, ok := s.auth.user(token); ok {
			return user, true
		}
		if user, c, ok := s.accountOfToken(token); ok && slices.Contains(c.Audiences, tokenIssuer) {
			return user, true
		}
		if s.auth.required() || s.opts.Rules != nil {
			return anonymous, isHealth(r.URL.Path)
		}
	case r.TLS != nil && len(r.TLS.VerifiedChains) > 0:
		subject := r.TLS.VerifiedChains[0][0].Subject
		return User{Name: subject.CommonName, Groups: append(slices.Clone(subject.Organization), groupAuthenticated)}, true
	}
	if s.opts.Rules != nil {
		return anonymous, true
	}
	return anonymous, !s.auth.required() || isHealth(r.URL.Path)
}

// admin returns the user of [Options].BearerToken.
func admin() User {
	return User{Name: "apitest-admin", Groups: []string{groupMasters, groupAuthenticated}}
}
