// Command candidate is a process that stands for election, with kinform or with client-go. While it
// leads, it writes a line with the time every few milliseconds, like a controller that writes
// objects.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgo "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

const (
	duration = 6 * time.Second
	deadline = 4 * time.Second
	period   = 800 * time.Millisecond
)

var (
	file      = flag.String("kubeconfig", "", "path of the kubeconfig")
	namespace = flag.String("namespace", "default", "namespace of the Lease")
	name      = flag.String("lease", "", "name of the Lease")
	identity  = flag.String("identity", "", "identity of this candidate")
	peer      = flag.Bool("client-go", false, "use the leader election of client-go")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	run := onKinform
	if *peer {
		run = onClientGo
	}
	if err := run(ctx); err != nil {
		fmt.Println("lost", err)
		os.Exit(1)
	}
}

func onKinform(ctx context.Context) error {
	connection, err := kubeconfig.Load(kubeconfig.Options{Path: *file})
	if err != nil {
		return err
	}
	client, err := rest.NewClient(connection.Config, rest.Options{Limit: lease.Check})
	if err != nil {
		return err
	}
	defer client.Close()
	elector, err := lease.New(client, types.NamespacedName{Namespace: *namespace, Name: *name}, lease.Options{
		Identity: *identity, LeaseDuration: duration, RenewDeadline: deadline, RetryPeriod: period,
	})
	if err != nil {
		return err
	}
	return elector.Run(ctx, func(ctx context.Context) error {
		write(ctx, lease.Check)
		return nil
	})
}

func onClientGo(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", *file)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: *namespace, Name: *name},
			Client:     clientgo.NewForConfigOrDie(config).CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: *identity},
		},
		LeaseDuration: duration, RenewDeadline: deadline, RetryPeriod: period, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				defer close(ended)
				write(ctx, func(ctx context.Context) error { return ctx.Err() })
			},
			OnStoppedLeading: func() {},
		},
	})
	return nil
}

// write writes lines until check fails.
func write(ctx context.Context, check func(context.Context) error) {
	for ctx.Err() == nil && check(ctx) == nil {
		if _, err := fmt.Println("writes", time.Now().UnixNano()); err != nil {
			log.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
