// Command controller measures one controller on kinform's packages controller and lease, and on
// controller-runtime, side by side in one run. Run it in the directory bench:
//
//	go run ./controller [-objects 10000] [-runs 3] [-workers 1,8] [-takeovers 3]
//	go run ./controller -quick
//	go run ./controller -kubeconfig FILE        # a real server in place of package apitest
//
// The controller is in directories kinform and controllerruntime: for each Widget, a custom
// resource, it keeps a ConfigMap, and says in the status which order that is of. Each side is a
// process of its own, and they take turns. The API server is a process as well, with a gate in front of
// it that counts requests and takes times (file gate.go). This process is the load.
//
// README.md has the measurements, the method, and its limits.
package main
