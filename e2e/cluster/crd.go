package cluster

import "context"

// This is the custom resource that [Cluster.CreateCRD] defines.
const (
	CRDGroup    = "kinform.example.com"
	CRDVersion  = "v1"
	CRDKind     = "Widget"
	CRDResource = "widgets"

	// WidgetsPath is the collection of widgets in [Namespace].
	WidgetsPath = "/apis/" + CRDGroup + "/" + CRDVersion + "/namespaces/" + Namespace + "/" + CRDResource

	crdsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

// CreateCRD creates a CustomResourceDefinition of widgets, which are namespaced, with any content
// and a status subresource. It returns when the CustomResourceDefinition is stored; the server
// serves the resource a moment later.
func (c *Cluster) CreateCRD(ctx context.Context) error {
	return c.Create(ctx, crdsPath, object{
		"metadata": object{"name": CRDResource + "." + CRDGroup},
		"spec": object{
			"group": CRDGroup,
			"scope": "Namespaced",
			"names": object{"plural": CRDResource, "singular": "widget", "kind": CRDKind, "shortNames": []string{"wd"}},
			"versions": []object{{
				"name": CRDVersion, "served": true, "storage": true,
				"schema": object{"openAPIV3Schema": object{
					"type": "object", "x-kubernetes-preserve-unknown-fields": true,
				}},
				"subresources": object{"status": object{}},
			}},
		},
	})
}

// DeleteCRD deletes the CustomResourceDefinition, and with it all widgets.
func (c *Cluster) DeleteCRD(ctx context.Context) error {
	return c.Delete(ctx, crdsPath+"/"+CRDResource+"."+CRDGroup)
}

// Widget returns a custom resource of kind CRDKind.
func Widget(name string, size int) any {
	return object{
		"apiVersion": CRDGroup + "/" + CRDVersion, "kind": CRDKind,
		"metadata": object{"name": name},
		"spec":     object{"size": size, "colour": "green"},
	}
}
