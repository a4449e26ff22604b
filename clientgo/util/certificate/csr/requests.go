package csr

import (
	"context"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// requests reads and writes the signing requests of a server, in the API version that the server
// has.
type requests struct {
	client clientset.Interface
	beta   bool
}

func requestsOf(client clientset.Interface, old bool) requests { return requests{client, old} }

func (r requests) create(ctx context.Context, wanted *certificatesv1.CertificateSigningRequest) (*certificatesv1.CertificateSigningRequest, error) {
	if !r.beta {
		return r.client.CertificatesV1().CertificateSigningRequests().Create(ctx, wanted, metav1.CreateOptions{})
	}
	old := &certificatesv1beta1.CertificateSigningRequest{ObjectMeta: wanted.ObjectMeta, Spec: certificatesv1beta1.CertificateSigningRequestSpec{
		Request: wanted.Spec.Request, SignerName: &wanted.Spec.SignerName, ExpirationSeconds: wanted.Spec.ExpirationSeconds,
	}}
	for _, u := range wanted.Spec.Usages {
		old.Spec.Usages = append(old.Spec.Usages, certificatesv1beta1.KeyUsage(u))
	}
	made, err := r.client.CertificatesV1beta1().CertificateSigningRequests().Create(ctx, old, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	return fromV1beta1(made), nil
}

func (r requests) get(ctx context.Context, name string) (*certificatesv1.CertificateSigningRequest, error) {
	if !r.beta {
		return r.client.CertificatesV1().CertificateSigningRequests().Get(ctx, name, metav1.GetOptions{})
	}
	found, err := r.client.CertificatesV1beta1().CertificateSigningRequests().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return fromV1beta1(found), nil
}

// listerWatcher returns a ListerWatcher for the request with this name.
func (r requests) listerWatcher(ctx context.Context, name string) (cache.ListerWatcher, runtime.Object) {
	one := func(opts metav1.ListOptions) metav1.ListOptions {
		opts.FieldSelector = "metadata.name=" + name
		return opts
	}
	if r.beta {
		all := r.client.CertificatesV1beta1().CertificateSigningRequests()
		return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListFunc:  func(opts metav1.ListOptions) (runtime.Object, error) { return all.List(ctx, one(opts)) },
			WatchFunc: func(opts metav1.ListOptions) (watch.Interface, error) { return all.Watch(ctx, one(opts)) },
		}, r.client), &certificatesv1beta1.CertificateSigningRequest{}
	}
	all := r.client.CertificatesV1().CertificateSigningRequests()
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListFunc:  func(opts metav1.ListOptions) (runtime.Object, error) { return all.List(ctx, one(opts)) },
		WatchFunc: func(opts metav1.ListOptions) (watch.Interface, error) { return all.Watch(ctx, one(opts)) },
	}, r.client), &certificatesv1.CertificateSigningRequest{}
}
