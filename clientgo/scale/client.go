package scale

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// converter is shared by all clients: it is large, and never changes.
var converter = sync.OnceValue(NewScaleConverter)

// optionsVersion is the version in which options are encoded.
var optionsVersion = schema.GroupVersion{Version: "v1"}

type scalesGetter struct {
	client       rest.Interface
	mapper       PreferredResourceMapper
	paths        dynamic.APIPathResolverFunc
	kindResolver ScaleKindResolver
}

// NewForConfig returns a client for a server. The mapper returns the versions of resources, and
// resolver returns the paths of groups. The scaleKindResolver returns the version of Scale that
// each resource uses. NewForConfig does not change cfg.
func NewForConfig(cfg *rest.Config, mapper PreferredResourceMapper, resolver dynamic.APIPathResolverFunc, scaleKindResolver ScaleKindResolver) (ScalesGetter, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.GroupVersion = &schema.GroupVersion{}
	cfg.NegotiatedSerializer = converter().codecs.WithoutConversion()
	if cfg.UserAgent == "" {
		cfg.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	client, err := rest.RESTClientFor(cfg)
	if err != nil {
		return nil, err
	}
	return New(client, mapper, resolver, scaleKindResolver), nil
}

// New is NewForConfig for an existing REST client. It does not use the API version of the REST
// client.
func New(baseClient rest.Interface, mapper PreferredResourceMapper, resolver dynamic.APIPathResolverFunc, scaleKindResolver ScaleKindResolver) ScalesGetter {
	return &scalesGetter{client: baseClient, mapper: mapper, paths: resolver, kindResolver: scaleKindResolver}
}

// Scales implements ScalesGetter.
func (g *scalesGetter) Scales(namespace string) ScaleInterface {
	return &namespacedScales{scalesGetter: g, namespace: namespace}
}

type namespacedScales struct {
	*scalesGetter
	namespace string
}

// preferred returns a resource in its preferred version.
func (s *namespacedScales) preferred(resource schema.GroupResource) (schema.GroupVersionResource, error) {
	gvr, err := s.mapper.ResourceFor(resource.WithVersion(""))
	if err != nil {
		return gvr, fmt.Errorf("unable to get client for %s: unable to get full preferred group-version-resource for %s: %w", resource, resource, err)
	}
	return gvr, nil
}

// send completes the request r for the scale of an object, and sends it.
func (s *namespacedScales) send(ctx context.Context, r *rest.Request, gvr schema.GroupVersionResource, name string, options runtime.Object) (*autoscalingv1.Scale, error) {
	result := r.AbsPath(cmp.Or(s.paths(gvr.GroupVersion().WithKind("")), "/api"), gvr.Group, gvr.Version).
		NamespaceIfScoped(s.namespace, s.namespace != "").Resource(gvr.Resource).Name(name).SubResource("scale").
		SpecificallyVersionedParams(options, metav1.ParameterCodec, optionsVersion).
		Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	body, err := result.Raw()
	if err != nil {
		return nil, err
	}
	return converter().read(body)
}

// Get implements ScaleInterface.
func (s *namespacedScales) Get(ctx context.Context, resource schema.GroupResource, name string, opts metav1.GetOptions) (*autoscalingv1.Scale, error) {
	gvr, err := s.preferred(resource)
	if err != nil {
		return nil, err
	}
	return s.send(ctx, s.client.Get(), gvr, name, &opts)
}

// Update implements ScaleInterface.
func (s *namespacedScales) Update(ctx context.Context, resource schema.GroupResource, scale *autoscalingv1.Scale, opts metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	gvr, err := s.preferred(resource)
	if err != nil {
		return nil, err
	}
	if scale == nil {
		return nil, fmt.Errorf("there is no scale to update %s with", resource)
	}
	kind, err := s.kindResolver.ScaleForResource(gvr)
	if err != nil {
		return nil, fmt.Errorf("could not find proper group-version for scale subresource of %s: %w", gvr, err)
	}
	wanted, err := converter().ConvertToVersion(scale, kind.GroupVersion())
	if err != nil {
		return nil, fmt.Errorf("could not convert scale update to external Scale: %w", err)
	}
	body, err := runtime.Encode(converter().codecs.LegacyCodec(kind.GroupVersion()), wanted)
	if err != nil {
		return nil, fmt.Errorf("could not encode scale update to external Scale: %w", err)
	}
	return s.send(ctx, s.client.Put().Body(body).SetHeader("Content-Type", runtime.ContentTypeJSON), gvr, scale.Name, &opts)
}

// Patch implements ScaleInterface.
func (s *namespacedScales) Patch(ctx context.Context, gvr schema.GroupVersionResource, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions) (*autoscalingv1.Scale, error) {
	return s.send(ctx, s.client.Patch(pt).Body(data), gvr, name, &opts)
}
