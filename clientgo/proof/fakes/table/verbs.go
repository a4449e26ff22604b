package main

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applyautoscalingv1 "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
)

func configMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"name": name}}, Data: map[string]string{"k": "v"}}
}

func node(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name}, Spec: corev1.PodSpec{
		NodeName: "n", Containers: []corev1.Container{{Name: "one", Image: "1"}, {Name: "two", Image: "2"}},
	}}
}

func deployment(name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name}, Spec: appsv1.DeploymentSpec{Replicas: new(int32)}}
}

// testVerbs tests the common verbs, and their errors.
func testVerbs(newClient clientset) {
	c := newClient(configMap("a", "one"), configMap("b", "two"), node("n"), deployment("d"))
	maps, all, nodes := c.CoreV1().ConfigMaps("a"), c.CoreV1().ConfigMaps(""), c.CoreV1().Nodes()
	create, update := metav1.CreateOptions{FieldManager: "me"}, metav1.UpdateOptions{FieldManager: "me"}
	do := func(name string, f func() (any, error)) { printRow(name, &c.Fake, f) }
	do("get", func() (any, error) { return maps.Get(ctx, "one", metav1.GetOptions{ResourceVersion: "7"}) })
	do("get what is missing", func() (any, error) { return maps.Get(ctx, "two", metav1.GetOptions{}) })
	do("get in all namespaces", func() (any, error) { return all.Get(ctx, "one", metav1.GetOptions{}) })
	do("get a node", func() (any, error) { return nodes.Get(ctx, "n", metav1.GetOptions{}) })
	do("get without a name", func() (any, error) { return maps.Get(ctx, "", metav1.GetOptions{}) })
	do("create", func() (any, error) { return maps.Create(ctx, configMap("a", "three"), create) })
	do("create what exists", func() (any, error) { return maps.Create(ctx, configMap("a", "three"), create) })
	do("create without a namespace", func() (any, error) { return maps.Create(ctx, configMap("", "four"), create) })
	do("create in another namespace", func() (any, error) { return maps.Create(ctx, configMap("b", "five"), create) })
	do("create in all namespaces", func() (any, error) { return all.Create(ctx, configMap("b", "six"), create) })
	do("create without a name", func() (any, error) { return maps.Create(ctx, configMap("a", ""), create) })
	do("create without a name again", func() (any, error) { return maps.Create(ctx, configMap("a", ""), create) })
	do("create nil", func() (any, error) { return maps.Create(ctx, nil, create) })
	do("create with a generated name", func() (any, error) {
		object := configMap("a", "")
		object.GenerateName = "some-"
		got, err := maps.Create(ctx, object, create)
		if got == nil {
			return nil, err
		}
		return []any{strings.HasPrefix(got.Name, "some-"), len(got.Name), got.GenerateName}, err
	})
	do("create with a version", func() (any, error) {
		object := configMap("a", "versioned")
		object.ResourceVersion, object.UID, object.Generation = "12", "u", 3
		return maps.Create(ctx, object, create)
	})
	do("create with dry run", func() (any, error) {
		return maps.Create(ctx, configMap("a", "dry"), metav1.CreateOptions{DryRun: []string{"All"}})
	})
	do("get after dry run", func() (any, error) { return maps.Get(ctx, "dry", metav1.GetOptions{}) })
	do("update", func() (any, error) {
		object := configMap("a", "one")
		object.Data["k"] = "w"
		return maps.Update(ctx, object, update)
	})
	do("update what is missing", func() (any, error) { return maps.Update(ctx, configMap("a", "none"), update) })
	do("update with another version", func() (any, error) {
		object := configMap("a", "versioned")
		object.ResourceVersion = "1"
		return maps.Update(ctx, object, update)
	})
	do("update in another namespace", func() (any, error) { return maps.Update(ctx, configMap("b", "two"), update) })
	do("update in all namespaces", func() (any, error) { return all.Update(ctx, configMap("b", "two"), update) })
	do("update dry", func() (any, error) {
		object := configMap("a", "one")
		object.Data["k"] = "dry"
		return maps.Update(ctx, object, metav1.UpdateOptions{DryRun: []string{"All"}})
	})
	do("get after update dry", func() (any, error) { return maps.Get(ctx, "one", metav1.GetOptions{}) })
	do("update a node", func() (any, error) { return nodes.Update(ctx, node("n"), update) })
	do("update status of a node", func() (any, error) {
		n := node("n")
		n.Spec.PodCIDR, n.Status.Phase = "spec too", "Running"
		return nodes.UpdateStatus(ctx, n, update)
	})
	do("update status of what is missing", func() (any, error) { return c.AppsV1().Deployments("a").UpdateStatus(ctx, deployment("x"), update) })
	do("delete", func() (any, error) {
		return onlyError(maps.Delete(ctx, "three", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("u")}))
	})
	do("delete what is missing", func() (any, error) { return onlyError(maps.Delete(ctx, "three", metav1.DeleteOptions{})) })
	do("delete dry", func() (any, error) {
		return onlyError(maps.Delete(ctx, "one", metav1.DeleteOptions{DryRun: []string{"All"}}))
	})
	do("delete what has finalizers", func() (any, error) {
		object := configMap("a", "final")
		object.Finalizers = []string{"f"}
		_, err := maps.Create(ctx, object, create)
		if err == nil {
			err = maps.Delete(ctx, "final", metav1.DeleteOptions{})
		}
		return nil, err
	})
	do("get what had finalizers", func() (any, error) { return maps.Get(ctx, "final", metav1.GetOptions{}) })
	do("list at the end", func() (any, error) { return all.List(ctx, metav1.ListOptions{}) })
	do("create and get in other groups", func() (any, error) {
		_, err := c.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "r"}}, create)
		if err != nil {
			return nil, err
		}
		_, err = c.NetworkingV1().Ingresses("a").Create(ctx, &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Name: "r"}}, create)
		if err != nil {
			return nil, err
		}
		return c.NetworkingV1().Ingresses("a").Get(ctx, "r", metav1.GetOptions{})
	})
	do("create a review", func() (any, error) {
		return c.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{}, create)
	})
	do("create a review again", func() (any, error) {
		return c.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{}, create)
	})
	do("create a token review", func() (any, error) {
		return c.AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{}, create)
	})
	do("objects are copies", func() (any, error) {
		object := configMap("a", "copied")
		created, err := maps.Create(ctx, object, create)
		if err != nil {
			return nil, err
		}
		object.Data["k"], created.Data["k"] = "mine", "yours"
		return maps.Get(ctx, "copied", metav1.GetOptions{})
	})
}

// testPatches tests patches of all types.
func testPatches(newClient clientset) {
	c := newClient(pod("p"), deployment("d"), node("n"), configMap("a", "one"))
	pods := c.CoreV1().Pods("a")
	options := metav1.PatchOptions{FieldManager: "me"}
	patch := func(name string, pt types.PatchType, object, data string, subresources ...string) {
		printRow(name, &c.Fake, func() (any, error) { return pods.Patch(ctx, object, pt, []byte(data), options, subresources...) })
	}
	patch("json patch", types.JSONPatchType, "p", `[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`)
	patch("json patch whose test fails", types.JSONPatchType, "p", `[{"op":"test","path":"/metadata/labels/a","value":"c"}]`)
	patch("json patch of what is missing", types.JSONPatchType, "p", `[{"op":"remove","path":"/metadata/labels/z"}]`)
	patch("malformed json patch", types.JSONPatchType, "p", `{"a":1}`)
	patch("merge patch", types.MergePatchType, "p", `{"metadata":{"labels":{"a":null,"c":"d"}},"spec":{"containers":[{"name":"three"}]}}`)
	patch("malformed merge patch", types.MergePatchType, "p", `[1`)
	patch("merge patch of another type of field", types.MergePatchType, "p", `{"metadata":{"labels":5}}`)
	patch("strategic merge patch", types.StrategicMergePatchType, "p", `{"spec":{"containers":[{"name":"three","image":"3"},{"name":"four"}]}}`)
	patch("strategic merge patch that deletes", types.StrategicMergePatchType, "p", `{"spec":{"containers":[{"name":"four","$patch":"delete"}]}}`)
	patch("malformed strategic merge patch", types.StrategicMergePatchType, "p", `x`)
	patch("patch of another kind of patch", types.PatchType("application/x"), "p", `{}`)
	patch("empty patch", types.MergePatchType, "p", `{}`)
	patch("no patch", types.MergePatchType, "p", ``)
	patch("patch of a missing pod", types.MergePatchType, "q", `{}`)
	patch("patch of a name", types.MergePatchType, "p", `{"metadata":{"name":"q"}}`)
	patch("patch of a status", types.MergePatchType, "p", `{"status":{"phase":"Running"},"spec":{"nodeName":"m"}}`, "status")
	patch("patch of two subresources", types.MergePatchType, "p", `{"status":{"phase":"Failed"}}`, "status", "x")
	patch("apply patch", types.ApplyPatchType, "p", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"k"}}`)
	patch("malformed apply patch", types.ApplyPatchType, "p", `{`)
	patch("apply patch that is a list", types.ApplyPatchType, "p", `[1]`)
	patch("apply patch of nothing", types.ApplyPatchType, "p", ``)
	patch("apply patch in YAML", types.ApplyPatchType, "p", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  labels: {y: z}\n")
	patch("apply patch without a kind", types.ApplyPatchType, "p", `{"metadata":{"name":"p"}}`)
	patch("apply patch of another name", types.ApplyPatchType, "p", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"z"}}`)
	patch("apply patch of an unknown field", types.ApplyPatchType, "p", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"unknown":"k"}}`)
	patch("apply patch with a version", types.ApplyPatchType, "p", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","resourceVersion":"8"}}`)
	printRow("the pod", &c.Fake, func() (any, error) { return pods.Get(ctx, "p", metav1.GetOptions{}) })

	maps := c.CoreV1().ConfigMaps("a")
	apply := func(name string, configuration *applycorev1.ConfigMapApplyConfiguration, options metav1.ApplyOptions) {
		printRow(name, &c.Fake, func() (any, error) { return maps.Apply(ctx, configuration, options) })
	}
	value := func(name, v string) *applycorev1.ConfigMapApplyConfiguration {
		return applycorev1.ConfigMap(name, "a").WithData(map[string]string{"k": v})
	}
	apply("apply nil", nil, metav1.ApplyOptions{FieldManager: "one"})
	apply("apply without a name", &applycorev1.ConfigMapApplyConfiguration{}, metav1.ApplyOptions{FieldManager: "one"})
	apply("apply a new object", value("new", "1"), metav1.ApplyOptions{FieldManager: "one"})
	apply("apply again", value("new", "2"), metav1.ApplyOptions{FieldManager: "one"})
	apply("apply the same", value("new", "2"), metav1.ApplyOptions{FieldManager: "one"})
	apply("apply what another manages", value("new", "3"), metav1.ApplyOptions{FieldManager: "two"})
	apply("apply what another manages, by force", value("new", "3"), metav1.ApplyOptions{FieldManager: "two", Force: true})
	apply("apply less", applycorev1.ConfigMap("new", "a"), metav1.ApplyOptions{FieldManager: "two"})
	apply("apply an object that was created", value("one", "3"), metav1.ApplyOptions{FieldManager: "two"})
	apply("apply without a manager", value("new2", "3"), metav1.ApplyOptions{})
	apply("apply dry", value("dry", "3"), metav1.ApplyOptions{FieldManager: "one", DryRun: []string{"All"}})
	apply("apply in another namespace", applycorev1.ConfigMap("other", "b"), metav1.ApplyOptions{FieldManager: "one"})
	printRow("after apply, update", &c.Fake, func() (any, error) {
		return maps.Update(ctx, configMap("a", "new"), metav1.UpdateOptions{FieldManager: "three"})
	})
	printRow("after apply, patch", &c.Fake, func() (any, error) {
		return maps.Patch(ctx, "new", types.MergePatchType, []byte(`{"data":{"l":"m"}}`), metav1.PatchOptions{})
	})
	printRow("apply status", &c.Fake, func() (any, error) {
		return c.AppsV1().Deployments("a").ApplyStatus(ctx, applyappsv1.Deployment("d", "a").WithStatus(applyappsv1.DeploymentStatus().WithReplicas(4)), metav1.ApplyOptions{FieldManager: "one"})
	})
	printRow("apply a node", &c.Fake, func() (any, error) {
		return c.CoreV1().Nodes().Apply(ctx, applycorev1.Node("n").WithLabels(map[string]string{"a": "b"}), metav1.ApplyOptions{FieldManager: "one"})
	})
	printRow("all config maps", &c.Fake, func() (any, error) { return maps.List(ctx, metav1.ListOptions{}) })
}

// testLists tests lists with options.
func testLists(newClient clientset) {
	c := newClient(configMap("a", "one"), configMap("a", "two"), configMap("b", "three"), &corev1.PodList{Items: []corev1.Pod{*pod("x"), *pod("w")}})
	maps := c.CoreV1().ConfigMaps("a")
	list := func(name string, options metav1.ListOptions) {
		printRow("list "+name, &c.Fake, func() (any, error) { return maps.List(ctx, options) })
	}
	list("all", metav1.ListOptions{})
	list("by label", metav1.ListOptions{LabelSelector: "name=two"})
	list("by labels", metav1.ListOptions{LabelSelector: "name notin (one),!x"})
	list("nothing", metav1.ListOptions{LabelSelector: "name=none"})
	list("by field", metav1.ListOptions{FieldSelector: "metadata.name=two"})
	list("by a malformed label selector", metav1.ListOptions{LabelSelector: "=,="})
	list("by a malformed field selector", metav1.ListOptions{FieldSelector: "a"})
	list("with a limit", metav1.ListOptions{Limit: 1, ResourceVersion: "1"})
	list("with a page", metav1.ListOptions{Continue: "x"})
	list("from a version", metav1.ListOptions{ResourceVersion: "100", ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	printRow("list of all namespaces", &c.Fake, func() (any, error) { return c.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{}) })
	printRow("list of an empty namespace", &c.Fake, func() (any, error) { return c.CoreV1().ConfigMaps("z").List(ctx, metav1.ListOptions{}) })
	printRow("list of a kind without objects", &c.Fake, func() (any, error) { return c.AppsV1().Deployments("").List(ctx, metav1.ListOptions{}) })
	printRow("list of objects that came as a list", &c.Fake, func() (any, error) { return c.CoreV1().Pods("").List(ctx, metav1.ListOptions{}) })
	printRow("list of nodes", &c.Fake, func() (any, error) { return c.CoreV1().Nodes().List(ctx, metav1.ListOptions{}) })
	printRow("delete collection", &c.Fake, func() (any, error) {
		return onlyError(maps.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}, metav1.ListOptions{LabelSelector: "name=two", FieldSelector: "metadata.name=two", Limit: 3}))
	})
	printRow("delete collection of all", &c.Fake, func() (any, error) {
		return onlyError(c.CoreV1().Nodes().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	})
	list("after delete collection", metav1.ListOptions{})
	printRow("a wrong fixture", nil, func() (any, error) { newClient(&metav1.Status{}); return nil, nil })
	printRow("no fixture", nil, func() (any, error) { newClient(nil); return nil, nil })
	printRow("the same fixture twice", nil, func() (any, error) {
		second := configMap("a", "one")
		second.Data["k"] = "second"
		c := newClient(configMap("a", "one"), second)
		return c.CoreV1().ConfigMaps("a").List(ctx, metav1.ListOptions{})
	})
	printRow("a fixture without a name", nil, func() (any, error) {
		return newClient(configMap("a", "")).CoreV1().ConfigMaps("a").List(ctx, metav1.ListOptions{})
	})
	printRow("a list of lists", nil, func() (any, error) {
		c := newClient(&corev1.List{Items: []runtime.RawExtension{{Object: configMap("a", "one")}, {Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"raw","namespace":"a"}}`)}}})
		return c.CoreV1().ConfigMaps("a").List(ctx, metav1.ListOptions{})
	})
}

// testSubresources tests the generated methods for subresources.
func testSubresources(newClient clientset) {
	c := newClient(deployment("d"), pod("p"), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "s"}})
	deployments, update := c.AppsV1().Deployments("a"), metav1.UpdateOptions{FieldManager: "me"}
	do := func(name string, f func() (any, error)) { printRow(name, &c.Fake, f) }
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "d"}, Spec: autoscalingv1.ScaleSpec{Replicas: 2}}
	do("get scale where there is a deployment", func() (any, error) { return deployments.GetScale(ctx, "d", metav1.GetOptions{}) })
	do("get scale of what is missing", func() (any, error) { return deployments.GetScale(ctx, "x", metav1.GetOptions{ResourceVersion: "0"}) })
	do("apply scale", func() (any, error) {
		return deployments.ApplyScale(ctx, "x", applyautoscalingv1.Scale().WithSpec(applyautoscalingv1.ScaleSpec().WithReplicas(1)), metav1.ApplyOptions{FieldManager: "me", Force: true})
	})
	do("apply scale where there is a deployment", func() (any, error) {
		return deployments.ApplyScale(ctx, "d", applyautoscalingv1.Scale().WithSpec(applyautoscalingv1.ScaleSpec().WithReplicas(1)), metav1.ApplyOptions{FieldManager: "me"})
	})
	do("apply no scale", func() (any, error) { return deployments.ApplyScale(ctx, "x", nil, metav1.ApplyOptions{}) })
	do("update scale of what is missing", func() (any, error) { return c.AppsV1().StatefulSets("a").UpdateScale(ctx, "x", scale, update) })
	do("update scale", func() (any, error) { return deployments.UpdateScale(ctx, "d", scale, update) })
	do("get scale after update", func() (any, error) { return deployments.GetScale(ctx, "d", metav1.GetOptions{}) })
	do("create a token", func() (any, error) {
		return c.CoreV1().ServiceAccounts("a").CreateToken(ctx, "s", &authenticationv1.TokenRequest{}, metav1.CreateOptions{FieldManager: "me"})
	})
	do("create a named token", func() (any, error) {
		return c.CoreV1().ServiceAccounts("a").CreateToken(ctx, "s", &authenticationv1.TokenRequest{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "a"}}, metav1.CreateOptions{})
	})
	do("update ephemeral containers", func() (any, error) { return c.CoreV1().Pods("a").UpdateEphemeralContainers(ctx, "p", pod("p"), update) })
	do("resize", func() (any, error) { return c.CoreV1().Pods("a").UpdateResize(ctx, "p", pod("p"), update) })
	do("resize what is missing", func() (any, error) { return c.CoreV1().Pods("a").UpdateResize(ctx, "q", pod("q"), update) })
}
