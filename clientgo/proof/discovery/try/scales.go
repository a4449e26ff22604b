package main

import (
	"context"
	"errors"
	"fmt"

	appsv1beta1 "k8s.io/api/apps/v1beta1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/scale"
	scalescheme "k8s.io/client-go/scale/scheme"
)

// fixedResolver is a mapper and a resolver that return a given kind.
type fixedResolver struct{ kind schema.GroupVersionKind }

func (fixedResolver) ResourceFor(r schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	if r.Resource == "unmapped" {
		return r, errors.New("not mapped")
	}
	r.Version = "v1"
	return r, nil
}

func (c fixedResolver) ScaleForResource(schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	if c.kind.Empty() {
		return c.kind, errors.New("no kind")
	}
	return c.kind, nil
}

func tryScales() {
	converter := scale.NewScaleConverter()
	block("versions of Scale", func() { line(converter.ScaleVersions()) })
	for i, in := range []runtime.Object{
		&autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: autoscalingv1.ScaleSpec{Replicas: 3}, Status: autoscalingv1.ScaleStatus{Replicas: 2, Selector: "a=b,c in (d,e)"}},
		&autoscalingv1.Scale{Status: autoscalingv1.ScaleStatus{Selector: "a=("}},
		&autoscalingv1.Scale{},
		&extensionsv1beta1.Scale{Status: extensionsv1beta1.ScaleStatus{Selector: map[string]string{"x": "y"}}},
		&extensionsv1beta1.Scale{Status: extensionsv1beta1.ScaleStatus{Selector: map[string]string{"x": "y"}, TargetSelector: "q=r"}},
		&appsv1beta1.Scale{Status: appsv1beta1.ScaleStatus{TargetSelector: "a!=b"}},
		&scalescheme.Scale{Status: scalescheme.ScaleStatus{Selector: &metav1.LabelSelector{}}},
		&appsv1beta1.Deployment{}, &metav1.Status{},
	} {
		for _, v := range append(converter.ScaleVersions(), schema.GroupVersion{Group: "apps", Version: "v1"}) {
			block(fmt.Sprintf("Scale %d %T to %s", i, in, v), func() {
				out, err := converter.ConvertToVersion(in.DeepCopyObject(), v)
				line(fmt.Sprintf("%T", out), text(out), err != nil)
			})
		}
	}
	tryScaleClient()
}

func tryScaleClient() {
	answers := responses{
		"/apis/apps/v1/namespaces/ns/deployments/d/scale":      ok(`{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"d"},"spec":{"replicas":3},"status":{"replicas":2,"selector":"a=b"}}`),
		"/apis/old/v1/namespaces/ns/deployments/d/scale":       ok(`{"kind":"Scale","apiVersion":"extensions/v1beta1","metadata":{"name":"d"},"spec":{"replicas":3},"status":{"replicas":2,"selector":{"a":"b"}}}`),
		"/api/v1/namespaces/ns/replicationcontrollers/d/scale": ok(`{"kind":"Scale","apiVersion":"autoscaling/v1"}`),
		"/apis/pod/v1/namespaces/ns/deployments/d/scale":       ok(`{"kind":"Pod","apiVersion":"v1"}`),
		"/apis/bad/v1/namespaces/ns/deployments/d/scale":       ok(`{`),
		"/apis/no/v1/namespaces/ns/deployments/d/scale":        {403, jsonType, status, nil},
	}
	s := serve(answers)
	defer s.Close()
	for _, kind := range []schema.GroupVersionKind{{Group: "autoscaling", Version: "v1", Kind: "Scale"}, {Group: "extensions", Version: "v1beta1", Kind: "Scale"}, {Group: "none", Version: "v1", Kind: "Scale"}, {}} {
		with := fixedResolver{kind}
		getter, err := scale.NewForConfig(&rest.Config{Host: s.URL, QPS: -1}, with, dynamic.LegacyAPIPathResolverFunc, with)
		if err != nil {
			panic(err)
		}
		for _, r := range []schema.GroupResource{
			{Group: "apps", Resource: "deployments"}, {Group: "old", Resource: "deployments"}, {Resource: "replicationcontrollers"}, {Group: "pod", Resource: "deployments"}, {Group: "bad", Resource: "deployments"},
			{Group: "no", Resource: "deployments"}, {Group: "missing", Resource: "deployments"}, {Resource: "unmapped"},
		} {
			for _, name := range []string{"d", "", "../d"} {
				block(fmt.Sprintf("scale of %s %q as %s", r, name, kind), func() {
					scales := getter.Scales("ns")
					ctx := context.Background()
					is, err := scales.Get(ctx, r, name, metav1.GetOptions{ResourceVersion: "5"})
					line(text(is), err)
					is, err = scales.Update(ctx, r, &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: autoscalingv1.ScaleSpec{Replicas: 7}, Status: autoscalingv1.ScaleStatus{Selector: "a=b"}}, metav1.UpdateOptions{DryRun: []string{"All"}})
					line(text(is), err)
					is, err = scales.Patch(ctx, r.WithVersion("v1"), name, types.MergePatchType, []byte(`{}`), metav1.PatchOptions{FieldManager: "m"})
					line(text(is), err)
					s.printRequests()
				})
			}
		}
	}
}
