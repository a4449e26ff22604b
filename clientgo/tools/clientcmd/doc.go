// Package clientcmd determines which server a program uses, and with which credentials. The sources
// are kubeconfig files, flags, and the pod's service account.
//
// A program that follows kubectl's rules does:
//
//	rules := clientcmd.NewDefaultClientConfigLoadingRules()
//	overrides := &clientcmd.ConfigOverrides{}
//	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
//	config, err := loader.ClientConfig()
//
// The files are merged. If several files have an entry with the same name, the entry of the first
// file is used. Relative paths in a file start at the folder of the file.
//
// This package does not use kinform's package kubeconfig, which only reads files into the settings
// of one connection. Programs of client-go also inspect, merge and change the content of each file.
// They write it back, including unknown parts.
package clientcmd
