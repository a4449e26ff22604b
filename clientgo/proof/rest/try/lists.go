package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// items are contents of a list of pods.
var items = []string{
	`{}`, `null`, `7`, `"x"`, `[]`, `true`, `{"metadata":null}`, `{"metadata":{"name":null}}`, `{"metadata":{"name":"a","name":"b"}}`, `{"metadata":{"NAME":"a"}}`, `{"metadata":{"Name":"a","name":"b"}}`, `{"metadata":{"labels":{"a":"b","a":"c"}}}`,
	`{"metadata":{"labels":{}}}`, `{"metadata":{"labels":null}}`, `{"metadata":{"labels":{"a":null}}}`, `{"metadata":{"labels":{"a":7}}}`, `{"metadata":{"labels":[]}}`, `{"metadata":{"finalizers":[]}}`, `{"metadata":{"finalizers":null}}`, `{"metadata":{"finalizers":["a",null]}}`, `{"metadata":{"finalizers":"a"}}`,
	`{"metadata":{"generation":1}}`, `{"metadata":{"generation":1.0}}`, `{"metadata":{"generation":1.5}}`, `{"metadata":{"generation":1e3}}`, `{"metadata":{"generation":"1"}}`, `{"metadata":{"generation":9223372036854775807}}`, `{"metadata":{"generation":9223372036854775808}}`, `{"metadata":{"generation":-1}}`, `{"metadata":{"generation":-0}}`, `{"metadata":{"generation":01}}`, `{"metadata":{"generation":null}}`,
	`{"metadata":{"creationTimestamp":null}}`, `{"metadata":{"creationTimestamp":"2020-01-01T00:00:00Z"}}`, `{"metadata":{"creationTimestamp":"2020-01-01T01:02:03.123456789+02:00"}}`, `{"metadata":{"creationTimestamp":""}}`, `{"metadata":{"creationTimestamp":"x"}}`, `{"metadata":{"creationTimestamp":7}}`, `{"metadata":{"creationTimestamp":"2020-13-01T00:00:00Z"}}`, `{"metadata":{"deletionTimestamp":"0001-01-01T00:00:00Z"}}`,
	`{"metadata":{"name":"\u00e4\ud83d\ude00\n\u0000"}}`, `{"metadata":{"name":"\ud800"}}`, `{"metadata":{"name":"\x"}}`, "{\"metadata\":{\"name\":\"a\tb\"}}", "{\"metadata\":{\"name\":\"\xff\"}}", `{"metadata":{"name":"\/\b\f\r\t\""}}`, `{"\u006detadata":{"name":"escaped"}}`,
	`{"metadata":{"managedFields":[{"manager":"m","operation":"Apply","apiVersion":"v1","time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{}}}}}]}}`, `{"metadata":{"managedFields":[{"fieldsV1":null}]}}`, `{"metadata":{"managedFields":[{"fieldsV1":  { "a" : [1, 2] } }]}}`, `{"metadata":{"managedFields":[null]}}`,
	`{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"100m","memory":"1Gi"},"requests":{"cpu":1,"memory":1.5}}}]}}`, `{"spec":{"containers":[{"resources":{"limits":{"cpu":"x"}}}]}}`, `{"spec":{"containers":[{"resources":{"limits":{"cpu":null,"a":"","b":"1e3","c":"0.1"}}}]}}`, `{"spec":{"containers":[]}}`, `{"spec":{"containers":[null,{}]}}`,
	`{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":80}}},{"livenessProbe":{"httpGet":{"port":"http"}}},{"livenessProbe":{"httpGet":{"port":null}}}]}}`, `{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":1.5}}}]}}`, `{"spec":{"containers":[{"livenessProbe":{}}]}}`, `{"spec":{"terminationGracePeriodSeconds":null}}`, `{"spec":{"terminationGracePeriodSeconds":0,"hostNetwork":false,"enableServiceLinks":true}}`, `{"spec":{"hostNetwork":"true"}}`, `{"spec":{"hostNetwork":1}}`,
	`{"spec":{"securityContext":{},"affinity":{},"tolerations":[{}]}}`, `{"spec":{"nodeSelector":{"a":"b"},"nodeName":"n"},"spec":{"nodeName":"m"}}`, `{"spec":{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Gi"}},{"name":"w","secret":{"defaultMode":420}}]}}`, `{"spec":{"volumes":[{"secret":{"defaultMode":2147483648}}]}}`, `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":null}]}}`,
	`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"typed"}}`, `{"kind":"Service","apiVersion":"v1","metadata":{"name":"typed"}}`, `{"kind":7}`, `{"unknown":{"a":[1,{"b":null}]},"metadata":{"name":"x"}}`, `{"metadata":{"name":"x"},}`, `{"metadata":{"name":"x"}} {}`, `{"metadata":{"name":"x"}`, ` { "metadata" : { "name" : "spaced" } } `, `{"metadata":{"ownerReferences":[{"uid":"u","controller":true,"blockOwnerDeletion":false}]}}`,
}

// heads are texts of lists. In each of them, the first %s is replaced by the items.
var heads = []string{
	`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"c","remainingItemCount":7,"selfLink":"s"},"items":%s}`, `{"items":%s,"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"}}`, `{"metadata":{"resourceVersion":"5"},"items":%s,"apiVersion":"v1","kind":"PodList"}`, `{"kind":"PodList","apiVersion":"v1","metadata":null,"items":%s}`,
	`{"kind":"PodList","apiVersion":"v1","items":%s,"metadata":{"resourceVersion":"7"}}`, `{"kind":"PodList","apiVersion":"v1","items":%s,"metadata":{}}`, `{"kind":"PodList","apiVersion":"v1","items":%s,"metadata":null}`, `{"kind":"PodList","apiVersion":"v1","metadata":{},"Items":%s}`, `{"kind":"PodList","apiVersion":"v1","items":%s,"items":[]}`, `{"kind":"PodList","apiVersion":"v1","items":[],"items":%s}`, `{"kind":"PodList","apiVersion":"v1","unknown":1,"items":%s,"more":{}}`, `{"kind":"PodList","apiVersion":"v1","metadata":{"remainingItemCount":0},"items":%s}`,
	`{"kind":"PodList","apiVersion":"v1","metadata":{"remainingItemCount":"x"},"items":%s}`, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":5},"items":%s}`, `{"kind":"PodList","apiVersion":"v1","items":%s} `, `{"kind":"PodList","apiVersion":"v1","items":%s}x`, `{"kind":"PodList","apiVersion":"v1","items":%s}{}`, `{"kind":"PodList","apiVersion":"v2","items":%s}`, `{"kind":"ServiceList","apiVersion":"v1","items":%s}`, `{"kind":"List","apiVersion":"v1","items":%s}`,
	`{"apiVersion":"v1","items":%s}`, `{"kind":"PodList","items":%s}`, `[%s]`, `{"kind":"PodList","apiVersion":"v1","items":%s`, `{"kind":"PodList","apiVersion":"v1","kind":"PodList","items":%s}`, "\n\t{\n \"kind\" : \"PodList\" , \"apiVersion\":\"v1\",\r\n\"items\" : %s\n}\n", `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","resourceVersion":"6"},"items":%s}`,
	// These have other fields before and after the items.
	`{"kind":"PodList","apiVersion":"v1","items":%s,"metadata":{"resourceVersion":"5","continue":"c","remainingItemCount":7,"selfLink":"s","shardInfo":{"selector":"a"},"unknown":{"b":[1,1.5]}},"more":{"c":null},"last":[1]}`, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","shardInfo":{"selector":"a"},"unknown":1},"items":%s}`, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"first":1,"items":%s,"last":{"a":1}}`,
	`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"c"},"items":%s,"metadata":{"resourceVersion":"6"}}`, `{"metadata":{"resourceVersion":"5"},"items":%s,"more":1,"more":2,"kind":"PodList","apiVersion":"v1"}`, `{"kind":"PodList","apiVersion":"v1","items":%s,"metadata":{"resourceVersion":"5","shardInfo":7}}`, `{"kind":"PodList","apiVersion":"v1","items":%s,"metadata":[]}`, `{"kind":"PodList","apiVersion":"v1","items":%s,"\u006dore\n":"\u00e4","metadata":{"resourceVersion":"5"}}`,
	`{"kind":"PodList","apiVersion":"v1","items":%[1]s,"metadata":{"resourceVersion":"5"},"items":%[1]s}`, `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":%s,"items":null}`, `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null,"items":%s}`, `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"first","labels":{"a":"b"}}},{},{}],"items":%s}`,
}

func tryLists() {
	s := serve(newResponse(200, textType, "fine"))
	defer s.Close()
	var kind string
	var body []byte
	config := configOf(s, func(c *rest.Config) {
		c.Transport = roundTripperFunc(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Request: r, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(bytes.NewReader(body))}, nil
		})
	})
	c, err := rest.RESTClientFor(config)
	if err != nil {
		panic(err)
	}
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	custom, inMetadata := dynamic.NewForConfigOrDie(config).Resource(pods), metadata.NewForConfigOrDie(config).Resource(pods)
	// shown returns the results of decoding a body into lists of several types.
	shown := func(of string, data []byte) string {
		kind, body = of, data
		var all []string
		for _, into := range []runtime.Object{&corev1.PodList{}, &metav1.PartialObjectMetadataList{}, &unstructured.UnstructuredList{}, &corev1.PodList{Items: []corev1.Pod{*pod("old")}}} {
			err := c.Get().Resource("pods").Do(background).Into(into)
			all = append(all, object(into)+" "+kindOf(err))
		}
		unstructured, err := custom.List(background, metav1.ListOptions{})
		all = append(all, fmt.Sprint(object(unstructured), err == nil))
		partial, err := inMetadata.List(background, metav1.ListOptions{})
		all = append(all, fmt.Sprint(object(partial), err == nil))
		obj, err := c.Get().Resource("pods").Do(background).Get()
		return strings.Join(append(all, object(obj)+" "+kindOf(err)), " | ")
	}
	for i, item := range items {
		block(fmt.Sprintf("item %d %s", i, item), func() {
			good := `{"metadata":{"name":"good","labels":{"a":"b"}}}`
			for _, list := range []string{"[" + item + "]", "[" + good + "," + item + "]", "[" + item + "," + good + "," + item + "]"} {
				line(shown(jsonType, fmt.Appendf(nil, heads[0], list)))
			}
			line(shown(jsonType, []byte(item)))
		})
	}
	for i, head := range heads {
		block(fmt.Sprintf("list %d", i), func() {
			for _, list := range []string{`[]`, `null`, `[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]`, `{}`, `"x"`, `[`, `[{"metadata":{"name":"a"}}`, `[,]`, `[{},]`} {
				line(shown(jsonType, fmt.Appendf(nil, head, list)))
			}
		})
	}
	//lint:ignore SA1019 An older server fills in selfLink.
	full := &corev1.PodList{ListMeta: metav1.ListMeta{SelfLink: "s", ResourceVersion: "5", Continue: "c", RemainingItemCount: ptr(int64(3)), ShardInfo: &metav1.ShardInfo{Selector: "a"}}}
	for _, name := range []string{"a", "b"} {
		p := pod(name)
		p.UID, p.Labels, p.CreationTimestamp = types.UID("u-"+name), map[string]string{"k": "v"}, metav1.NewTime(time.Unix(1000, 0).UTC())
		p.Spec.Containers = []corev1.Container{{Name: "c", Image: "i", Command: []string{"x", "y"}, Env: []corev1.EnvVar{{Name: "e", Value: "f"}}}}
		p.Spec.TerminationGracePeriodSeconds = ptr(int64(30))
		p.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
		full.Items = append(full.Items, *p)
	}
	for _, of := range []string{jsonType, protobufType} {
		whole := encoded(of, full)
		for _, part := range []string{"cut", "lost", "twice", "zero", "high", "flip"} {
			for start := 0; start < len(whole); start += 100 {
				block(fmt.Sprintf("list %s %s from %d", of, part, start), func() {
					for i := start; i < min(start+100, len(whole)); i++ {
						data := []byte(whole)
						switch part {
						case "cut":
							data = data[:i]
						case "lost":
							data = append(data[:i:i], data[i+1:]...)
						case "twice":
							data = append(data[:i+1:i+1], data[i:]...)
						case "zero":
							data[i] = 0
						case "high":
							data[i] = 0xff
						case "flip":
							data[i] ^= 1
						}
						kind, body = of, data
						list := &corev1.PodList{}
						err := c.Get().Resource("pods").Do(background).Into(list)
						line(i, object(list), kindOf(err))
					}
				})
			}
		}
	}
}
