package main

// reasons has the reason for each function of client-go's tests that fails only here. README.md
// describes the effects that a program can notice.
var reasons = map[string]string{
	"openapi/openapitest TestOpenAPIEmbeddedTest": noAlpha,
	"openapi3 TestOpenAPIV3Root_GVSpec":           noAlpha,
	"openapi3 TestOpenAPIV3Root_GVSpecAsMap":      noAlpha,
	"tools/cache TestReflectorResync":             "a failed resync is logged and does not end the watch, because another list would not repair the store",
	"rest TestConfigToExecClusterRoundtrip":       "Config.Sharing, which client-go does not have, is not passed to a plugin",
}

const noAlpha = "the embedded documents are made from k8s.io/api v0.37.2, which has no networking.k8s.io/v1alpha1"
