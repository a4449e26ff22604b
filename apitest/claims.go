package apitest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// tokenIssuer is the issuer of service account tokens, and their default audience.
const tokenIssuer = "https://kubernetes.default.svc"

// claims are the contents of a service account token, a JSON web token.
type claims struct {
	Audiences []string  `json:"aud"`
	Expires   int64     `json:"exp"`
	Issued    int64     `json:"iat"`
	Issuer    string    `json:"iss"`
	ID        types.UID `json:"jti"`
	NotBefore int64     `json:"nbf"`
	Subject   string    `json:"sub"`
	Private   struct {
		Namespace string       `json:"namespace"`
		Node      *boundObject `json:"node,omitempty"`
		Pod       *boundObject `json:"pod,omitempty"`
		Secret    *boundObject `json:"secret,omitempty"`
		Account   boundObject  `json:"serviceaccount"`
	} `json:"kubernetes.io"`
}

// boundObject is an object that a token names.
type boundObject struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

func newClaims(account *corev1.ServiceAccount, audiences []string, at time.Time, lifetime time.Duration, id types.UID) claims {
	c := claims{
		Audiences: audiences, Issuer: tokenIssuer, ID: id, Subject: accountUser(account.Namespace, account.Name),
		Issued: at.Unix(), NotBefore: at.Unix(), Expires: at.Add(lifetime).Unix(),
	}
	c.Private.Namespace = account.Namespace
	c.Private.Account = boundObject{account.Name, account.UID}
	return c
}

// bind binds the token to an object. The token becomes invalid when the object is deleted.
func (c *claims) bind(kind string, obj Object) {
	to := &boundObject{obj.GetName(), obj.GetUID()}
	switch kind {
	case "Pod":
		c.Private.Pod = to
	case "Secret":
		c.Private.Secret = to
	case "Node":
		c.Private.Node = to
	}
}

// tokenHeader names the signing method of tokens. The key depends on [Options].Seed.
const tokenHeader = `{"alg":"HS256","typ":"JWT"}`

func encodePart(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func (a *auth) signature(text string) string {
	mac := hmac.New(sha256.New, a.key)
	_, _ = mac.Write([]byte(text))
	return encodePart(mac.Sum(nil))
}

// sign encodes and signs a token.
func (a *auth) sign(c claims) string {
	text := encodePart([]byte(tokenHeader)) + "." + encodePart(apiobject.MustJSON(c))
	return text + "." + a.signature(text)
}

// verify decodes a token. ok is false unless this server has signed the token.
func (a *auth) verify(token string) (c claims, ok bool) {
	end := strings.LastIndexByte(token, '.')
	if end < 0 || !hmac.Equal([]byte(a.signature(token[:end])), []byte(token[end+1:])) {
		return c, false
	}
	_, body, _ := strings.Cut(token[:end], ".")
	data, err := base64.RawURLEncoding.DecodeString(body)
	return c, err == nil && json.Unmarshal(data, &c) == nil
}

// accountOfToken returns the user and the claims of a token. If ok is false, the token has expired,
// or the account or the object to which the token is bound has been deleted.
func (s *Server) accountOfToken(token string) (user User, c claims, ok bool) {
	if c, ok = s.auth.verify(token); !ok || time.Now().Unix() >= c.Expires {
		return user, c, false
	}
	p := c.Private
	exists := func(kind, namespace string, object *boundObject) bool {
		if object == nil {
			return true
		}
		key := types.NamespacedName{Namespace: namespace, Name: object.Name}
		rev := s.store.Get(s.store.ResourceOfKind(corev1.SchemeGroupVersion.WithKind(kind)), key)
		return rev != nil && rev.Object().GetUID() == object.UID
	}
	if !exists("ServiceAccount", p.Namespace, &p.Account) || !exists("Pod", p.Namespace, p.Pod) ||
		!exists("Secret", p.Namespace, p.Secret) || !exists("Node", "", p.Node) {
		return user, c, false
	}
	user = User{
		Name: c.Subject, UID: string(p.Account.UID),
		Groups: append(accountGroups(p.Namespace), groupAuthenticated),
		Extra:  map[string][]string{"authentication.kubernetes.io/credential-id": {"JTI=" + string(c.ID)}},
	}
	if p.Pod != nil {
		user.Extra["authentication.kubernetes.io/pod-name"] = []string{p.Pod.Name}
		user.Extra["authentication.kubernetes.io/pod-uid"] = []string{string(p.Pod.UID)}
	}
	if p.Node != nil {
		user.Extra["authentication.kubernetes.io/node-name"] = []string{p.Node.Name}
		user.Extra["authentication.kubernetes.io/node-uid"] = []string{string(p.Node.UID)}
	}
	return user, c, true
}

// accountUser returns the user name of a service account.
func accountUser(namespace, name string) string {
	return "system:serviceaccount:" + namespace + ":" + name
}
