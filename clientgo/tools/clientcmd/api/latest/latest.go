// Package latest has the codec of kubeconfig files.
package latest

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/versioning"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/clientcmd/api"
	v1 "k8s.io/client-go/tools/clientcmd/api/v1"
)

const (
	// Version is the version in which files are written.
	Version = "v1"

	// OldestVersion is the oldest version that can be read.
	OldestVersion = "v1"
)

var (
	// Versions lists all readable versions, oldest first.
	Versions = []string{Version}

	// ExternalVersion is Version with its group.
	ExternalVersion = schema.GroupVersion{Group: "", Version: Version}

	// Scheme has the types of files and the in-memory types.
	Scheme = newScheme()

	// Codec decodes files, in YAML or JSON, into api.Config, and encodes them in YAML.
	Codec runtime.Codec = newCodec()
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(api.AddToScheme(scheme))
	utilruntime.Must(v1.AddToScheme(scheme))
	return scheme
}

func newCodec() runtime.Codec {
	yaml := json.NewSerializerWithOptions(json.DefaultMetaFactory, Scheme, Scheme, json.SerializerOptions{Yaml: true})
	return versioning.NewDefaultingCodecForScheme(Scheme, yaml, yaml, ExternalVersion, runtime.InternalGroupVersioner)
}
