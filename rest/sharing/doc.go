// Package sharing decodes Kubernetes objects from protobuf and JSON so that they share
// what is equal in them.
//
// The pods of one ReplicaSet differ in their names and addresses, and repeat most
// of the rest: probes, resources, tolerations, environment, managed fields. A cache
// that holds them all holds each of these thousands of times. A [Decoder] looks up
// the bytes of a pointer, a map, a list or a string in a table before it decodes
// them, and where they were seen before, the object gets what was decoded then.
// That halves the memory of a cache of pods, and as what is found needs no decoding
// and no allocation, it saves time as well.
//
// Package rest does this by itself: each of its Clients has a Decoder for the lists and
// watches of all its resources. Who wants a table of another size, or one for several
// clients, makes a Decoder and gives it to the resources:
//
//	shared := sharing.New(sharing.Options{MaxBytes: 32 << 20})
//	pods, err := rest.For[*corev1.Pod](client, rest.ResourceOptions{Decoder: shared})
//
// One Decoder serves any number of resources and types, lists, watches and relists.
//
// # The contract
//
// Objects that come from a Decoder must not be changed. Everybody who has an object
// from a cache is bound by that rule of Kubernetes; here whoever breaks it changes
// other objects as well. DeepCopy gives an object of one's own, as ever. Fields that
// the object holds by value, such as pod.Name, can be set without harm to others, if
// the object is in no informer's store.
// [Decoder.DecodeProtobuf] goes further: a later version of an object shares with the
// earlier one each list, map and pointer that is the same in both, whether or not other
// objects have it. Of a pod whose status changes that is most of it.
//
// In tests, package mutation finds who breaks the rule.
//
// Objects can be read by any number of goroutines. A resource.Quantity is a special
// case, since formatting and comparing may change it: none that has an address is
// shared, nor anything that holds one, such as the source of an emptyDir with a size
// limit. The quantities of a map have no address; whoever reads one has a copy.
//
// Strings of one object that are not shared lie in one piece of memory, except for
// name, namespace, uid and resourceVersion: who keeps one of them for longer than the
// object keeps all, unless strings.Clone makes a copy.
//
// # What is decoded
//
// A Decoder knows a type by the protobuf tags of its fields, which all types of
// k8s.io/api have:
//
//	Spec PodSpec `json:"spec" protobuf:"bytes,2,opt,name=spec"`
//
// The result equals that of the type's own method Unmarshal; fields that the type
// does not have are ignored. So a struct of one's own, with the tags of the fields
// that are wanted, is decoded as well, and what it does not name costs nothing:
//
//	type Pod struct {
//		metav1.ObjectMeta `json:"metadata" protobuf:"bytes,1,opt,name=metadata"`
//		Spec struct {
//			NodeName string `json:"nodeName" protobuf:"bytes,10,opt,name=nodeName"`
//		} `json:"spec" protobuf:"bytes,2,opt,name=spec"`
//	}
//
// JSON is decoded by the JSON tags, into the same types and any others, and into the
// maps of unstructured objects, where whatever repeats under one key is shared. The
// result equals that of sigs.k8s.io/json, at a third of its cost without sharing and a
// sixth with it. See [Decoder.DecodeJSON].
//
// # How it finds out what to look up
//
// Looking up what never repeats costs time and fills the table. So a Decoder counts,
// for each field of each type, how often a look-up succeeds, and stops looking up
// fields where it seldom does. These are tried again later, ever more seldom. What a
// goroutine has found within the last few dozen objects it finds without the table.
//
// # Bounds
//
// The table is bounded by [Options].MaxBytes. What it drops to make room lives on in
// the objects that have it, and is collected with the last of them.
package sharing
