package apitest

import (
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// reviewSelf returns the identity of the client.
func (s *Server) reviewSelf(req *Request, _ Object) (Object, error) {
	r := &authenticationv1.SelfSubjectReview{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: apiobject.Now()}}
	r.Status.UserInfo = userInfo(req.user)
	return r, nil
}

// reviewToken returns the user of a token.
func (s *Server) reviewToken(_ *Request, obj Object) (Object, error) {
	r := obj.(*authenticationv1.TokenReview)
	if r.Spec.Token == "" {
		return nil, apierrors.NewBadRequest("token is required for TokenReview in authentication")
	}
	r.Status = authenticationv1.TokenReviewStatus{}
	wanted := r.Spec.Audiences
	if len(wanted) == 0 {
		wanted = []string{tokenIssuer}
	}
	user, audiences, known := s.userOfToken(r.Spec.Token)
	audiences = slices.DeleteFunc(slices.Clone(audiences), func(a string) bool { return !slices.Contains(wanted, a) })
	if !known || len(audiences) == 0 {
		r.Status.Error = "invalid bearer token"
		return r, nil
	}
	r.Status.Authenticated, r.Status.User, r.Status.Audiences = true, userInfo(user), audiences
	return r, nil
}

// userOfToken returns the user of a token, and the token's audiences.
func (s *Server) userOfToken(token string) (user User, audiences []string, ok bool) {
	if s.auth.isBearerToken(token) {
		return admin(), []string{tokenIssuer}, true
	}
	if user, ok := s.auth.user(token); ok {
		return user, []string{tokenIssuer}, true
	}
	user, c, ok := s.accountOfToken(token)
	return user, c.Audiences, ok
}

func userInfo(user User) authenticationv1.UserInfo {
	info := authenticationv1.UserInfo{Username: user.Name, UID: user.UID, Groups: user.Groups}
	for key, values := range user.Extra {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[key] = values
	}
	return info
}
