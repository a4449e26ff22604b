// Package defaults completes configurations for typed clients.
package defaults

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/internal/builtin"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// Config returns a copy of a configuration for the clients of a group version of the built-in
// types. The functions add register the types that these clients send and receive.
func Config(c *rest.Config, version schema.GroupVersion, add ...builtin.Add) *rest.Config {
	config := *c
	config.GroupVersion = &version
	config.APIPath = "/apis"
	if version.Group == "" {
		config.APIPath = "/api"
	}
	config.NegotiatedSerializer = builtin.Codecs(version, add...)
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	return &config
}

// Limited returns a copy of a configuration with a rate limiter. QPS and Burst of the configuration
// set its limits. All clients made from the copy share that limiter.
func Limited(c *rest.Config) (*rest.Config, error) {
	config := *c
	if config.RateLimiter != nil || config.QPS <= 0 {
		return &config, nil
	}
	if config.Burst <= 0 {
		return nil, errors.New("burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0")
	}
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(config.QPS, config.Burst)
	return &config, nil
}
