package v1beta1

const models = "io.k8s.client-go.pkg.apis.clientauthentication.v1beta1."

// OpenAPIModelName returns the type's name in OpenAPI documents.
func (in Cluster) OpenAPIModelName() string { return models + "Cluster" }

// OpenAPIModelName returns the type's name in OpenAPI documents.
func (in ExecCredential) OpenAPIModelName() string { return models + "ExecCredential" }

// OpenAPIModelName returns the type's name in OpenAPI documents.
func (in ExecCredentialSpec) OpenAPIModelName() string { return models + "ExecCredentialSpec" }

// OpenAPIModelName returns the type's name in OpenAPI documents.
func (in ExecCredentialStatus) OpenAPIModelName() string { return models + "ExecCredentialStatus" }
