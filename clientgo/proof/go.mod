module github.com/kinform/kinform/clientgo/proof

go 1.26.0

require (
	github.com/kinform/kinform v0.0.0
	golang.org/x/exp v0.0.0-20261014143641-f0251eb4aa3e
	golang.org/x/tools v0.40.0
	k8s.io/client-go v0.37.2
)

replace (
	github.com/kinform/kinform => ../../
	k8s.io/client-go => ../
)
