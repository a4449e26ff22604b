module github.com/kinform/kinform/e2e

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
	k8s.io/apimachinery v0.37.2
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect

replace github.com/kinform/kinform => ../
