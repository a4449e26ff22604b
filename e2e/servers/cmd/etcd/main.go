// Command etcd runs one etcd member for tests. It listens only on loopback. It does not wait for
// the disk, because test data need not survive.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

func main() {
	client := flag.String("client", "http://127.0.0.1:2379", "`URL` that clients connect to")
	peer := flag.String("peer", "http://127.0.0.1:2380", "`URL` that other members would connect to")
	dir := flag.String("data-dir", "", "`directory` of the data, required")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *client, *peer, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends or the member fails.
func run(ctx context.Context, client, peer, dir string) error {
	if dir == "" {
		return errors.New("-data-dir is missing")
	}
	cfg, err := config(client, peer, dir)
	if err != nil {
		return err
	}
	member, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	defer member.Close()
	select {
	case <-ctx.Done():
		return nil
	case err := <-member.Err():
		return fmt.Errorf("serve: %w", err)
	}
}

func config(client, peer, dir string) (*embed.Config, error) {
	clientURL, err := url.Parse(client)
	if err != nil {
		return nil, fmt.Errorf("-client: %w", err)
	}
	peerURL, err := url.Parse(peer)
	if err != nil {
		return nil, fmt.Errorf("-peer: %w", err)
	}
	cfg := embed.NewConfig()
	cfg.Name = "e2e"
	cfg.Dir = dir
	cfg.ListenClientUrls = []url.URL{*clientURL}
	cfg.AdvertiseClientUrls = []url.URL{*clientURL}
	cfg.ListenPeerUrls = []url.URL{*peerURL}
	cfg.AdvertisePeerUrls = []url.URL{*peerURL}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.UnsafeNoFsync = true
	cfg.LogLevel = "warn"
	cfg.WarningUnaryRequestDuration = time.Second // the default, 0, would log every request
	return cfg, nil
}
