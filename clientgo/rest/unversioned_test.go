package rest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"k8s.io/apimachinery/pkg/runtime"

	"k8s.io/client-go/rest"
)

// A client without a version uses the version of the types that all API versions share.
func TestVersionOfAClientWithoutOne(t *testing.T) {
	config := &rest.Config{Host: "http://localhost", ContentConfig: rest.ContentConfig{NegotiatedSerializer: serializer.NewCodecFactory(runtime.NewScheme())}}
	client, err := rest.UnversionedRESTClientFor(config)
	require.NoError(t, err)
	require.Equal(t, metav1.SchemeGroupVersion, client.APIVersion())
	apps := schema.GroupVersion{Group: "apps", Version: "v1"}
	config.GroupVersion = &apps
	client, err = rest.UnversionedRESTClientFor(config)
	require.NoError(t, err)
	require.Equal(t, apps, client.APIVersion())
}
