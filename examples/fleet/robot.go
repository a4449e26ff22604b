package main

import (
	_ "embed"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

//go:embed robot.yaml
var manifest []byte

var (
	group     = schema.GroupVersion{Group: "example.com", Version: "v1"}
	robots    = group.WithResource("robots")
	robotKind = group.WithKind("Robot")
)

// Robot is the custom resource that robot.yaml defines: one of many in a warehouse.
type Robot struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata"`

	Spec   RobotSpec   `json:"spec"`
	Status RobotStatus `json:"status,omitzero"`
}

// RobotSpec is the order for the robot. Orders have numbers, so that the load test can match a
// status to its order.
type RobotSpec struct {
	Order int64  `json:"order"`
	Shelf string `json:"shelf"`
}

// RobotStatus has the last order for which a route exists, and the leader that made the route: the
// name of a replica, and the number of its term. The term grows with each change of the leader.
type RobotStatus struct {
	Order  int64  `json:"order"`
	Leader string `json:"leader"`
	Term   int32  `json:"term"`
}

// DeepCopy returns a Robot that shares nothing with this one.
func (r *Robot) DeepCopy() *Robot {
	out := *r
	r.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

func (r *Robot) key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// route is the content of the robot's ConfigMap.
func (r *Robot) route() map[string]string {
	return map[string]string{"order": fmt.Sprint(r.Spec.Order), "shelf": r.Spec.Shelf}
}
