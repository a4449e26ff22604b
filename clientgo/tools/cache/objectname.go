package cache

import "k8s.io/apimachinery/pkg/types"

// ObjectName is the namespace and name of an object. Namespace is "" where there is none.
type ObjectName struct {
	Namespace string
	Name      string
}

// NewObjectName returns an ObjectName.
func NewObjectName(namespace, name string) ObjectName {
	return ObjectName{Namespace: namespace, Name: name}
}

// NamespacedNameAsObjectName converts.
func NamespacedNameAsObjectName(nn types.NamespacedName) ObjectName {
	return ObjectName{Namespace: nn.Namespace, Name: nn.Name}
}

// ParseObjectName is [SplitMetaNamespaceKey] with an ObjectName as result.
func ParseObjectName(str string) (ObjectName, error) {
	namespace, name, err := SplitMetaNamespaceKey(str)
	return ObjectName{Namespace: namespace, Name: name}, err
}

// Parts returns both.
func (objName ObjectName) Parts() (namespace, name string) { return objName.Namespace, objName.Name }

// String returns the key: "namespace/name", or "name".
func (objName ObjectName) String() string {
	if objName.Namespace == "" {
		return objName.Name
	}
	return objName.Namespace + "/" + objName.Name
}

// AsNamespacedName converts.
func (objName ObjectName) AsNamespacedName() types.NamespacedName {
	return types.NamespacedName{Namespace: objName.Namespace, Name: objName.Name}
}
