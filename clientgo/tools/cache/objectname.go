package cache

import "k8s.io/apimachinery/pkg/types"

// ObjectName is the namespace and name of an object. Namespace is "" for a cluster-scoped object.
type ObjectName struct {
	Namespace string
	Name      string
}

// NewObjectName returns the ObjectName with this namespace and name.
func NewObjectName(namespace, name string) ObjectName {
	return ObjectName{Namespace: namespace, Name: name}
}

// NamespacedNameAsObjectName converts a NamespacedName to an ObjectName.
func NamespacedNameAsObjectName(nn types.NamespacedName) ObjectName {
	return ObjectName{Namespace: nn.Namespace, Name: nn.Name}
}

// ParseObjectName is [SplitMetaNamespaceKey] with an ObjectName as its result.
func ParseObjectName(str string) (ObjectName, error) {
	namespace, name, err := SplitMetaNamespaceKey(str)
	return ObjectName{Namespace: namespace, Name: name}, err
}

// Parts returns the namespace and the name.
func (objName ObjectName) Parts() (namespace, name string) { return objName.Namespace, objName.Name }

// String returns the key: "namespace/name", or "name" without a namespace.
func (objName ObjectName) String() string {
	if objName.Namespace == "" {
		return objName.Name
	}
	return objName.Namespace + "/" + objName.Name
}

// AsNamespacedName converts an ObjectName to a NamespacedName.
func (objName ObjectName) AsNamespacedName() types.NamespacedName {
	return types.NamespacedName{Namespace: objName.Namespace, Name: objName.Name}
}
