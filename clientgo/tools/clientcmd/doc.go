// Package clientcmd determines the server of a program and the program's credentials. The sources
// are kubeconfig files, flags, and the pod's service account.
//
// A program that follows kubectl's rules does:
//
//	rules := clientcmd.NewDefaultClientConfigLoadingRules()
//	overrides := &clientcmd.ConfigOverrides{}
//	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
//	config, err := loader.ClientConfig()
//
// Files are merged. For each name, the first file with an entry of that name wins. Relative paths
// in a file start at its folder.
//
// It is not built on kinform's package kubeconfig, which reads files into one connection. Programs
// of client-go inspect, merge and change the content of each file and write it back, including
// unknown parts.
package clientcmd
