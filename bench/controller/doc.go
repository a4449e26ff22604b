// Command controller measures one controller on kinform's packages controller and lease, and on
// controller-runtime, side by side in one run. Run it in the directory bench:
//
//	go run ./controller [-objects 10000] [-runs 3] [-workers 1,8] [-takeovers 3]
//	go run ./controller -quick
//	go run ./controller -kubeconfig FILE        # a real server in place of package apitest
//
// The directories kinform and controllerruntime each have the same controller. For each Widget, a
// custom resource, it keeps a ConfigMap, and records the order of the ConfigMap in the status. Each
// side is a process of its own, and the sides take turns. The API server is also a process, behind
// a proxy that counts requests and measures times (file proxy.go). This process generates the load.
//
// README.md has the measurements, the method, and its limits.
package main
