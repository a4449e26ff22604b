package cluster

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// seedWorkers is the number of concurrent calls in [Parallel].
const seedWorkers = 16

// PodsPath is the collection of the pods that [Cluster.SeedPods] creates.
const PodsPath = "/api/v1/namespaces/" + Namespace + "/pods"

// PodName returns the name of the i-th pod.
func PodName(i int) string { return fmt.Sprintf("web-%05d", i) }

// SeedPods creates n pods, beginning with number first.
func (c *Cluster) SeedPods(ctx context.Context, first, n int) error {
	return Parallel(n, func(i int) error { return c.Create(ctx, PodsPath, Pod(first+i)) })
}

// Parallel calls do for 0 to n-1 from several goroutines, and returns when all calls have returned.
// After an error no new calls begin, and the first error is returned.
func Parallel(n int, do func(i int) error) error {
	var (
		next   atomic.Int64
		failed atomic.Pointer[error]
		wg     sync.WaitGroup
	)
	for range seedWorkers {
		wg.Go(func() {
			for failed.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(i); err != nil {
					failed.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Pod returns the i-th pod, with the usual fields of a deployment's pod: two containers with ports,
// probes, resources and environment, labels, an owner.
func Pod(i int) any {
	app := fmt.Sprintf("web-%02d", i%50)
	return object{
		"metadata": object{
			"name": PodName(i),
			"labels": object{
				"app.kubernetes.io/name":     app,
				"app.kubernetes.io/instance": fmt.Sprintf("%s-%d", app, i%3),
				"pod-template-hash":          "5d5f8c7b9d",
				"tier":                       []string{"front", "back", "batch"}[i%3],
			},
			"annotations": object{
				"prometheus.io/scrape": "true",
				"prometheus.io/port":   "9090",
			},
			"ownerReferences": []object{{
				"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app + "-5d5f8c7b9d",
				"uid": fmt.Sprintf("00000000-0000-4000-8000-%012d", i%50), "controller": true,
			}},
		},
		"spec": object{
			"nodeName":                      fmt.Sprintf("node-%03d", i%100),
			"terminationGracePeriodSeconds": 0,
			"containers":                    []object{mainContainer(app, i), sidecar()},
			"volumes": []object{
				{"name": "config", "configMap": object{"name": app}},
				{"name": "scratch", "emptyDir": object{}},
			},
		},
	}
}

func mainContainer(app string, i int) object {
	probe := object{"httpGet": object{"path": "/healthz", "port": "http"}, "periodSeconds": 10}
	return object{
		"name":  "app",
		"image": fmt.Sprintf("registry.example.com/shop/%s:v1.%d.0", app, i%7),
		"args":  []string{"--listen=:8080", "--log-format=json"},
		"ports": []object{{"name": "http", "containerPort": 8080}, {"name": "metrics", "containerPort": 9090}},
		"env": []object{
			{"name": "POD_NAME", "valueFrom": object{"fieldRef": object{"fieldPath": "metadata.name"}}},
			{"name": "DATABASE_URL", "value": "postgres://db.shop.svc.cluster.local:5432/shop?sslmode=verify-full"},
			{"name": "CACHE_URL", "value": "redis://cache.shop.svc.cluster.local:6379/0"},
			{"name": "SHARD", "value": fmt.Sprint(i % 16)},
		},
		"resources": object{
			"requests": object{"cpu": "100m", "memory": "128Mi"},
			"limits":   object{"memory": "256Mi"},
		},
		"livenessProbe":  probe,
		"readinessProbe": probe,
		"volumeMounts":   []object{{"name": "config", "mountPath": "/etc/app", "readOnly": true}},
	}
}

func sidecar() object {
	return object{
		"name":         "proxy",
		"image":        "registry.example.com/mesh/proxy:v2.4.1",
		"args":         []string{"--upstream=127.0.0.1:8080"},
		"ports":        []object{{"name": "proxy", "containerPort": 15001}},
		"env":          []object{{"name": "LOG_LEVEL", "value": "warn"}, {"name": "MESH_ID", "value": "shop"}},
		"volumeMounts": []object{{"name": "scratch", "mountPath": "/var/run/proxy"}},
	}
}
