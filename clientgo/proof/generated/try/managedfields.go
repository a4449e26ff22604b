//go:build !kinform_no_openapi

package main

import "k8s.io/client-go/kubernetes/fake"

func init() { fakeClients["managing fake"] = fake.NewClientset }
