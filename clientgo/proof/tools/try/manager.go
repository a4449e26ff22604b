//lint:file-ignore SA1019 what is deprecated is compared as well

package main

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/certificate"
	"k8s.io/client-go/util/certificate/csr"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/klog/v2"
)

// signed returns a certificate and its key in PEM.
func signed(from, to time.Time, name string, key crypto.Signer, public crypto.PublicKey, usages ...x509.ExtKeyUsage) []byte {
	template := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: name, Organization: []string{"o"}}, NotBefore: from, NotAfter: to, ExtKeyUsage: usages, DNSNames: []string{"d"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func pair(from, to time.Time, name string) (certificate, private []byte) {
	key := newKey()
	private, _ = keyutil.MarshalPrivateKeyToPEM(key)
	return signed(from, to, name, key, key.Public(), x509.ExtKeyUsageClientAuth), private
}

func tryManager() {
	tryFileStores()
	tryRequesting()
	tryWaiting()
	tryRotation()
	try("certificate requests: durations", func(o *outcome) {
		for _, d := range []time.Duration{0, time.Second, 1500 * time.Millisecond, 24 * time.Hour, -time.Second, 1 << 62} {
			o.line(*csr.DurationToExpirationSeconds(d), csr.ExpirationSecondsToDuration(*csr.DurationToExpirationSeconds(d)))
		}
	})
}

func tryFileStores() {
	now := time.Now()
	first, firstKey := pair(now.Add(-time.Hour), now.Add(time.Hour), "first")
	second, secondKey := pair(now.Add(-time.Hour), now.Add(time.Hour), "second")
	for _, start := range []string{"empty", "a pair", "a pair in two files", "a broken pair", "a certificate alone", "a key of another"} {
		try("file store: "+start, func(o *outcome) {
			dir, remove := folder()
			defer remove()
			// compare only the types, because the texts have different names of files
			clean := func(err error) string { return fmt.Sprintf("%T", err)[:6] }
			certFile, keyFile := "", ""
			switch start {
			case "a pair":
				_ = os.WriteFile(filepath.Join(dir, "x-current.pem"), slices.Concat(first, firstKey), 0o600)
			case "a pair in two files":
				certFile, keyFile = filepath.Join(dir, "c"), filepath.Join(dir, "k")
				_ = os.WriteFile(certFile, first, 0o600)
				_ = os.WriteFile(keyFile, firstKey, 0o600)
			case "a broken pair":
				_ = os.WriteFile(filepath.Join(dir, "x-current.pem"), []byte("text"), 0o600)
			case "a certificate alone":
				_ = os.WriteFile(filepath.Join(dir, "x-current.pem"), first, 0o600)
			case "a key of another":
				_ = os.WriteFile(filepath.Join(dir, "x-current.pem"), slices.Concat(first, secondKey), 0o600)
			}
			s, err := certificate.NewFileStore("x", dir, dir, certFile, keyFile)
			o.line(s != nil, clean(err))
			if s == nil {
				return
			}
			show := func(c *tls.Certificate, err error) {
				_, isMissing := err.(*certificate.NoCertKeyError)
				if c != nil {
					o.line(c.Leaf.Subject.CommonName, c.PrivateKey != nil, clean(err))
					return
				}
				o.line("none", clean(err), isMissing)
			}
			show(s.Current())
			o.line(strings.ReplaceAll(s.CurrentPath(), dir, "DIR"))
			show(s.Update(second, firstKey))
			show(s.Update(nil, nil))
			show(s.Update(second, secondKey))
			show(s.Current())
			show(s.Update(first, firstKey))
			show(s.Current())
			entries, _ := os.ReadDir(dir)
			for _, e := range slices.Compact(entriesOf(entries, dir)) {
				o.line(e)
			}
		})
	}
	try("file store: no folder", func(o *outcome) {
		s, err := certificate.NewFileStore("x", "/none/at/all", "/none/at/all", "", "")
		o.line(s != nil, kindOf(err))
		e := certificate.NoCertKeyError("x")
		o.line(e.Error())
	})
}

func settledStore(s string) string {
	for _, field := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '/' || r == '"' || r == ':' }) {
		if strings.HasPrefix(field, "x-20") {
			s = strings.ReplaceAll(s, field, "x-DATE.pem")
		}
	}
	return s
}

func entriesOf(entries []os.DirEntry, dir string) []string {
	var all []string
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		target, _ := os.Readlink(filepath.Join(dir, e.Name()))
		all = append(all, settledStore(e.Name())+" "+info.Mode().String()+" "+settledStore(strings.ReplaceAll(target, dir, "DIR")))
	}
	return all
}

func request(key crypto.Signer, name string) []byte {
	data, err := cert.MakeCSR(key, &pkix.Name{CommonName: name}, nil, nil)
	if err != nil {
		panic(err)
	}
	return data
}

func tryRequesting() {
	key := newKey()
	hour := time.Hour
	usages := []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth}
	for name, faults := range map[string][]*fault{
		"fine": nil, "no v1": {{path: "/v1/certificatesigningrequests", times: -1, handler: statusHandler(404, "NotFound", "no")}}, "forbidden": {{method: "POST", times: -1, handler: statusHandler(403, "Forbidden", "no")}}, "500 once": {{method: "POST", times: 1, handler: statusHandler(500, "InternalError", "no")}},
		"invalid": {{path: "/v1/certificatesigningrequests", method: "POST", times: -1, handler: statusHandler(422, "Invalid", "no")}},
	} {
		for given, c := range map[string]struct {
			name, signer string
			duration     *time.Duration
			usages       []certificatesv1.KeyUsage
		}{"all": {"r", "example.com/s", &hour, usages}, "no name": {"", "example.com/s", nil, usages}, "no signer": {"r", "", nil, usages}, "legacy signer": {"r", certificatesv1beta1.LegacyUnknownSignerName, nil, usages}, "no usages": {"r", "example.com/s", nil, nil}} {
			try("certificate requests: "+name+", "+given, func(o *outcome) {
				s := serve(o, copyFaults(faults)...)
				defer s.Close()
				client := kubernetes.NewForConfigOrDie(s.config())
				for range 2 {
					got, uid, err := csr.RequestCertificateWithContext(context.Background(), client, request(key, "c"), c.name, c.signer, c.duration, c.usages, key)
					o.line(got != "", got == c.name, uid != "", err != nil)
				}
				other := newKey()
				_, _, err := csr.RequestCertificate(client, request(other, "c"), c.name, c.signer, c.duration, c.usages, other)
				o.line(err != nil)
				_, _, err = csr.RequestCertificate(client, []byte("x"), c.name, c.signer, c.duration, c.usages, key)
				o.line(err != nil)
				for _, asked := range s.takeRequests() {
					o.line("asked", requestText.ReplaceAllString(generated.ReplaceAllString(asked, "csr-X"), `"request":"R"`))
				}
			})
		}
	}
}

// copyFaults returns copies of faults, because a fault counts its uses.
func copyFaults(all []*fault) []*fault {
	var copies []*fault
	for _, f := range all {
		c := *f
		copies = append(copies, &c)
	}
	return copies
}

func tryWaiting() {
	for name, condition := range map[string]*certificatesv1.CertificateSigningRequestCondition{
		"approved": {Type: certificatesv1.CertificateApproved, Status: v1.ConditionTrue}, "denied": {Type: certificatesv1.CertificateDenied, Status: v1.ConditionTrue, Reason: "R", Message: "M"}, "failed": {Type: certificatesv1.CertificateFailed, Status: v1.ConditionTrue, Reason: "R", Message: "M"}, "nothing": nil, "deleted": nil, "another": nil, "not there": nil,
	} {
		for _, when := range []string{"before", "after"} {
			try("certificate requests: wait, "+name+" "+when, func(o *outcome) {
				s := serve(o)
				defer s.Close()
				client := kubernetes.NewForConfigOrDie(s.config()).CertificatesV1().CertificateSigningRequests()
				ctx := context.Background()
				made, err := client.Create(ctx, &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "r"}, Spec: certificatesv1.CertificateSigningRequestSpec{SignerName: "example.com/s", Request: []byte("x"), Usages: []certificatesv1.KeyUsage{"client auth"}}}, metav1.CreateOptions{})
				o.line(kindOf(err))
				change := func() {
					switch {
					case name == "deleted":
						_ = client.Delete(ctx, "r", metav1.DeleteOptions{})
					case condition != nil:
						made.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{*condition}
						if name == "approved" {
							made.Status.Certificate = []byte("C")
						}
						if _, err := client.UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
							o.line(kindOf(err))
						}
					}
				}
				if when == "before" {
					change()
				} else {
					time.AfterFunc(200*time.Millisecond, change)
				}
				uid := made.UID
				if name == "another" {
					uid = types.UID("other")
				}
				asked := "r"
				if name == "not there" {
					asked = "none"
				}
				longest := 20 * time.Second
				if name == "nothing" || name == "not there" || name == "deleted" && when == "before" {
					longest = 1500 * time.Millisecond
				}
				limit, cancel := context.WithTimeout(ctx, longest)
				defer cancel()
				data, err := csr.WaitForCertificate(limit, kubernetes.NewForConfigOrDie(s.config()), asked, uid)
				o.line(string(data), err != nil)
				if err != nil {
					o.line(normalize(err.Error()))
				}
			})
		}
	}
}

// memoryStore is a certificate store in memory.
type memoryStore struct {
	o *outcome

	mu      sync.Mutex // guards following
	current *tls.Certificate
	err     error
}

func (k *memoryStore) Current() (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == nil && k.err == nil {
		e := certificate.NoCertKeyError("none")
		return nil, &e
	}
	return k.current, k.err
}

func (k *memoryStore) Update(c, key []byte) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(c, key)
	if err != nil {
		return nil, err
	}
	pair.Leaf, _ = x509.ParseCertificate(pair.Certificate[0])
	k.mu.Lock()
	defer k.mu.Unlock()
	k.current = &pair
	k.o.line("stored", pair.Leaf.Subject)
	return k.current, nil
}

func parsed(c, key []byte) *tls.Certificate {
	pair, err := tls.X509KeyPair(c, key)
	if err != nil {
		panic(err)
	}
	pair.Leaf, _ = x509.ParseCertificate(pair.Certificate[0])
	return &pair
}

// sign approves and signs all certificate signing requests, until the context ends.
func sign(ctx context.Context, client kubernetes.Interface, life time.Duration, deny bool) {
	ca := newKey()
	for ctx.Err() == nil {
		list, err := client.CertificatesV1().CertificateSigningRequests().List(ctx, metav1.ListOptions{})
		if err == nil {
			for _, r := range list.Items {
				if len(r.Status.Conditions) > 0 {
					continue
				}
				block, _ := pem.Decode(r.Spec.Request)
				asked, err := x509.ParseCertificateRequest(block.Bytes)
				if err != nil {
					continue
				}
				kind := certificatesv1.CertificateApproved
				if deny {
					kind = certificatesv1.CertificateDenied
				} else {
					r.Status.Certificate = signed(time.Now().Add(-time.Minute), time.Now().Add(life), asked.Subject.CommonName, ca, asked.PublicKey, x509.ExtKeyUsageClientAuth)
				}
				r.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: kind, Status: v1.ConditionTrue}}
				_, _ = client.CertificatesV1().CertificateSigningRequests().UpdateStatus(ctx, &r, metav1.UpdateOptions{})
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func tryRotation() {
	usages := []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth}
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: "me", Organization: []string{"o"}}, DNSNames: []string{"d"}}
	try("certificate manager: what is wrong with a config", func(o *outcome) {
		s := &memoryStore{o: o}
		for i, c := range []certificate.Config{
			{}, {CertificateStore: s}, {CertificateStore: s, Usages: usages}, {CertificateStore: s, Usages: usages, GetUsages: func(any) []certificatesv1.KeyUsage { return usages }}, {CertificateStore: s, GetUsages: func(any) []certificatesv1.KeyUsage { return usages }},
			{CertificateStore: s, Usages: usages, Template: template, GetTemplate: func() *x509.CertificateRequest { return template }}, {CertificateStore: s, Usages: usages, BootstrapCertificatePEM: []byte("x")}, {CertificateStore: s, Usages: usages, BootstrapCertificatePEM: []byte("x"), BootstrapKeyPEM: []byte("y")},
			{CertificateStore: &memoryStore{o: o, err: errors.New("x")}, Usages: usages}, {CertificateStore: &memoryStore{o: o, err: errors.New("x")}, Usages: usages, BootstrapCertificatePEM: []byte("x"), BootstrapKeyPEM: []byte("y")},
		} {
			o.panics(fmt.Sprint(i), func() {
				m, err := certificate.NewManager(&c)
				o.line(i, m != nil, err != nil)
				if m != nil {
					o.line(m.Current() != nil, m.ServerHealthy())
					m.Stop()
				}
			})
		}
	})
	now := time.Now()
	rotates := func(as string, at [2]time.Duration, template *x509.CertificateRequest, wait time.Duration) func(o *outcome) {
		return func(o *outcome) {
			s := serve(o)
			defer s.Close()
			client := kubernetes.NewForConfigOrDie(s.config())
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			signer := kubernetes.NewForConfigOrDie(s.config())
			go func() { sign(ctx, signer, 10*time.Hour, false) }()
			c, key := pair(now.Add(at[0]), now.Add(at[1]), "me")
			store := &memoryStore{o: o}
			var logged lines
			logging := klog.NewContext(ctx, logged.logger(2))
			config := certificate.Config{
				Ctx:         &logging,
				ClientsetFn: func(current *tls.Certificate) (kubernetes.Interface, error) { return client, nil },
				Template:    template, SignerName: "example.com/s", Usages: usages, CertificateStore: store,
			}
			if as == "stored" {
				store.current = parsed(c, key)
			} else {
				config.BootstrapCertificatePEM, config.BootstrapKeyPEM = c, key
			}
			m, err := certificate.NewManager(&config)
			o.line(m != nil, kindOf(err))
			if m == nil {
				return
			}
			o.line(m.Current() != nil, m.ServerHealthy())
			m.Start()
			stored := 0
			count := func() int { return strings.Count(text(o.all()), "stored CN") }
			if as == "bootstrap" {
				stored = count()
			}
			changed := within(wait, func() bool { return count() > stored })
			time.Sleep(50 * time.Millisecond)
			o.line(changed, m.Current() != nil, m.ServerHealthy())
			m.Stop()
			o.panics("stop again", m.Stop)
			o.line("logged", text(progress(logged.taken())))
		}
	}
	fresh := [2]time.Duration{-time.Hour, 10 * time.Hour}
	for name, at := range map[string][2]time.Duration{"fresh": fresh, "expired": {-2 * time.Hour, -time.Hour}, "due": {-10 * time.Hour, time.Minute}, "to come": {time.Hour, 2 * time.Hour}} {
		for _, as := range []string{"stored", "bootstrap"} {
			wait := 8 * time.Second
			if as == "stored" && (name == "fresh" || name == "to come") {
				wait = 500 * time.Millisecond
			}
			try("certificate manager: "+name+" "+as, rotates(as, at, template, wait))
		}
	}
	me := pkix.Name{CommonName: "me", Organization: []string{"o"}}
	for name, wanted := range map[string]*x509.CertificateRequest{
		"name":          {Subject: pkix.Name{CommonName: "you", Organization: []string{"o"}}, DNSNames: []string{"d"}},
		"DNS name":      {Subject: me, DNSNames: []string{"d", "z", "e"}},
		"address":       {Subject: me, IPAddresses: []net.IP{net.IPv4(1, 2, 3, 4), net.IPv6loopback}},
		"organization":  {Subject: pkix.Name{CommonName: "me", Organization: []string{"p"}}},
		"second reason": {Subject: pkix.Name{CommonName: "me", Organization: []string{"p"}}, DNSNames: []string{"e"}},
	} {
		try("certificate manager: another "+name, rotates("stored", fresh, wanted, 8*time.Second))
	}
}

// momentOf finds the values of a log line that differ from run to run, and the text after them.
var momentOf = regexp.MustCompile(`\b(sleep|expiration|deadline)=.*`)

// progress returns the lines of a manager's progress, each once. It leaves out the lines of
// reflectors, because the two modules wait for the request in different ways.
func progress(logged []string) (all []string) {
	for _, line := range logged {
		if strings.HasPrefix(line, "DEBUG") && !strings.Contains(line, "reflector=") {
			all = append(all, momentOf.ReplaceAllString(line, "$1"))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
