// Package clientcmd finds out which server a program talks to, and as whom: from kubeconfig files, from flags, and from what a pod has.
//
// A program that follows the rules of kubectl does:
//
//	rules := clientcmd.NewDefaultClientConfigLoadingRules()
//	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).ClientConfig()
//
// Files are merged: of each name, the first file that has it wins. Paths in a file are relative to its folder.
//
// It is not package kubeconfig of kinform, which reads files into one connection: programs of client-go look at what
// each file has, merge and change that, and write it back, with the parts that nobody knows.
package clientcmd
