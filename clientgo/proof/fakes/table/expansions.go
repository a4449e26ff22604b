package main

//lint:file-ignore SA1019 programs call what is deprecated

import (
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	corev1 "k8s.io/api/core/v1"
	eventsv1beta1 "k8s.io/api/events/v1beta1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	fakes "k8s.io/client-go/testing"
)

// testExpansions calls the methods of clients beyond the common verbs.
func testExpansions(newClient clientset) {
	meta := metav1.ObjectMeta{Namespace: "a", Name: "p"}
	create, update := metav1.CreateOptions{FieldManager: "me"}, metav1.UpdateOptions{FieldManager: "me"}
	for _, namespace := range []string{"", "a", "b"} {
		for _, empty := range []bool{true, false} {
			c := newClient()
			if !empty {
				c = newClient(pod("p"), deployment("p"), &corev1.Event{ObjectMeta: meta}, &eventsv1beta1.Event{ObjectMeta: meta})
			}
			do := func(name string, f func() (any, error)) {
				printRow(fmt.Sprintf("%s in %q, empty: %t", name, namespace, empty), &c.Fake, f)
			}
			pods, events := c.CoreV1().Pods(namespace), c.CoreV1().Events(namespace)
			do("evict", func() (any, error) { return onlyError(pods.Evict(ctx, &policyv1beta1.Eviction{ObjectMeta: meta})) })
			do("evict v1", func() (any, error) { return onlyError(pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: meta})) })
			do("evict v1beta1", func() (any, error) {
				return onlyError(pods.EvictV1beta1(ctx, &policyv1beta1.Eviction{ObjectMeta: meta}))
			})
			do("policy v1 evict", func() (any, error) {
				return onlyError(c.PolicyV1().Evictions(namespace).Evict(ctx, &policyv1.Eviction{ObjectMeta: meta}))
			})
			do("policy v1beta1 evict", func() (any, error) {
				return onlyError(c.PolicyV1beta1().Evictions(namespace).Evict(ctx, &policyv1beta1.Eviction{ObjectMeta: meta}))
			})
			do("bind", func() (any, error) { return onlyError(pods.Bind(ctx, &corev1.Binding{ObjectMeta: meta}, create)) })
			do("logs", func() (any, error) {
				request := pods.GetLogs("p", &corev1.PodLogOptions{Container: "c"})
				log, err := request.DoRaw(ctx)
				return []string{string(log), request.URL().String()}, err
			})
			do("proxy of a pod", func() (any, error) {
				return withoutError(pods.ProxyGet("http", "p", "80", "/x", map[string]string{"q": "1"}) == nil)
			})
			do("proxy of a service", func() (any, error) {
				return withoutError(c.CoreV1().Services(namespace).ProxyGet("http", "p", "80", "/x", nil) == nil)
			})
			event := &corev1.Event{ObjectMeta: meta, Reason: "r"}
			do("event, create", func() (any, error) { return events.CreateWithEventNamespace(event) })
			do("event, update", func() (any, error) { return events.UpdateWithEventNamespace(event) })
			do("event, patch", func() (any, error) { return events.PatchWithEventNamespace(event, []byte(`{"reason":"s"}`)) })
			do("event, create with context", func() (any, error) { return events.CreateWithEventNamespaceWithContext(ctx, event) })
			do("event, update with context", func() (any, error) { return events.UpdateWithEventNamespaceWithContext(ctx, event) })
			do("event, patch with context", func() (any, error) {
				return events.PatchWithEventNamespaceWithContext(ctx, event, []byte(`{"reason":"s"}`))
			})
			do("event, search", func() (any, error) { return events.Search(scheme.Scheme, pod("p")) })
			do("event, search with context", func() (any, error) { return events.SearchWithContext(ctx, scheme.Scheme, pod("p")) })
			do("event, selector", func() (any, error) { return withoutError(events.GetFieldSelector(&namespace, nil, nil, nil).String()) })
			beta, betas := &eventsv1beta1.Event{ObjectMeta: meta}, c.EventsV1beta1().Events(namespace)
			do("event v1beta1, create", func() (any, error) { return betas.CreateWithEventNamespace(beta) })
			do("event v1beta1, update", func() (any, error) { return betas.UpdateWithEventNamespace(beta) })
			do("event v1beta1, patch", func() (any, error) { return betas.PatchWithEventNamespace(beta, []byte(`{"reason":"s"}`)) })
			do("rollback", func() (any, error) {
				return onlyError(c.ExtensionsV1beta1().Deployments(namespace).Rollback(ctx, &extensionsv1beta1.DeploymentRollback{Name: "p"}, create))
			})
		}
	}
	for _, empty := range []bool{true, false} {
		c := newClient()
		if !empty {
			c = newClient(node("p"), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "p"}},
				&certificatesv1beta1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "p"}})
		}
		do := func(name string, f func() (any, error)) {
			printRow(fmt.Sprintf("%s, empty: %t", name, empty), &c.Fake, f)
		}
		do("finalize", func() (any, error) {
			return c.CoreV1().Namespaces().Finalize(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: corev1.NamespaceStatus{Phase: "x"}}, update)
		})
		do("patch status of a node", func() (any, error) {
			return c.CoreV1().Nodes().PatchStatus(ctx, "p", []byte(`{"status":{"phase":"x"}}`))
		})
		do("approve", func() (any, error) {
			return c.CertificatesV1().CertificateSigningRequests().UpdateApproval(ctx, "p", &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"a": "b"}}}, update)
		})
		do("approve v1beta1", func() (any, error) {
			return c.CertificatesV1beta1().CertificateSigningRequests().UpdateApproval(ctx, &certificatesv1beta1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"a": "b"}}}, update)
		})
	}
	c := newClient()
	c.Resources = []*metav1.APIResourceList{{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{{Name: "deployments", Kind: "Deployment"}}}}
	printRow("discovery, version", &c.Fake, func() (any, error) { return c.Discovery().ServerVersion() })
	printRow("discovery, another version", &c.Fake, func() (any, error) {
		c.Discovery().(*fakediscovery.FakeDiscovery).FakedServerVersion = &version.Info{Major: "9"}
		return c.Discovery().ServerVersion()
	})
	printRow("discovery, groups", &c.Fake, func() (any, error) { return c.Discovery().ServerGroups() })
	printRow("discovery, resources", &c.Fake, func() (any, error) { return c.Discovery().ServerResourcesForGroupVersion("apps/v1") })
	printRow("discovery, missing resources", &c.Fake, func() (any, error) { return c.Discovery().ServerResourcesForGroupVersion("apps/v2") })
	printRow("what has no server", &c.Fake, func() (any, error) {
		_, typed := c.CoreV1().RESTClient().(*rest.RESTClient)
		return withoutError([]bool{c.Discovery().RESTClient() == nil, typed, c.IsWatchListSemanticsUnSupported(), c.Tracker() != nil})
	})
	var _ fakes.FakeClient = c
}
