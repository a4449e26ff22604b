package discovery

import (
	"context"

	"k8s.io/client-go/internal/openapiv2"
	"k8s.io/client-go/openapi"
)

// openAPIv2Type is the media type of the OpenAPI v2 document in protobuf.
const openAPIv2Type = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"

// OpenAPISchema is OpenAPISchemaWithContext without a context.
func (d *DiscoveryClient) OpenAPISchema() (*openapiv2.Document, error) {
	return d.OpenAPISchemaWithContext(context.Background())
}

// OpenAPISchemaWithContext returns the OpenAPI v2 document, which has tens of megabytes.
func (d *DiscoveryClient) OpenAPISchemaWithContext(ctx context.Context) (*openapiv2.Document, error) {
	body, err := d.restClient.Get().AbsPath("/openapi/v2").SetHeader("Accept", openAPIv2Type).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	return openapiv2.Parse(body)
}

// OpenAPIV3 returns a client for the OpenAPI v3 documents.
func (d *DiscoveryClient) OpenAPIV3() openapi.Client { return openapi.NewClient(d.restClient) }

// OpenAPIV3WithContext is OpenAPIV3 for calls with contexts.
func (d *DiscoveryClient) OpenAPIV3WithContext(context.Context) openapi.ClientWithContext {
	return openapi.NewClientWithContext(d.restClient)
}
