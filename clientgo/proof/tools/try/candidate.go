package main

import (
	"context"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/api/coordination/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
)

func tryCandidates() {
	for name, faults := range map[string][]*fault{
		"nothing fails": nil, "the creation fails": {{method: "POST", times: 2, handler: statusHandler(500, "InternalError", "no")}}, "the update conflicts": {{method: "PUT", times: 2, handler: statusHandler(409, "Conflict", "no")}}, "the update finds nothing": {{method: "PUT", times: 1, handler: statusHandler(404, "NotFound", "no")}},
	} {
		try("lease candidate: "+name, func(o *outcome) {
			s := serve(o, faults...)
			defer s.Close()
			client := kubernetes.NewForConfigOrDie(s.config())
			other := kubernetes.NewForConfigOrDie(s.config()).CoordinationV1beta1().LeaseCandidates("ns")
			c, waiter, err := leaderelection.NewCandidate(client, "ns", "me", "lease", "1.37.0", "1.36.0", coordinationv1.OldestEmulationVersion)
			o.line(kindOf(err), s.count())
			stop := make(chan struct{})
			time.AfterFunc(5*time.Second, func() { close(stop) })
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() { defer close(done); c.Run(ctx) }()
			within(5*time.Second, func() bool { return len(waiter.WaitForCacheSync(stop)) > 0 })
			for of, synced := range waiter.WaitForCacheSync(stop) {
				o.line(of, synced)
			}
			found := func() *v1beta1.LeaseCandidate {
				candidate, err := other.Get(context.Background(), "me", metav1.GetOptions{})
				if err != nil {
					return nil
				}
				return candidate
			}
			o.line(within(5*time.Second, func() bool { return found() != nil }))
			candidate := found()
			o.line(normalize(text(candidate.Spec)), candidate.Labels)
			time.Sleep(50 * time.Millisecond)
			now := metav1.NowMicro()
			candidate.Spec.PingTime = &now
			renewed := candidate.Spec.RenewTime
			_, err = other.Update(context.Background(), candidate, metav1.UpdateOptions{})
			o.line(faults == nil, err == nil || strings.Contains(name, "update"))
			if err != nil {
				for err != nil {
					_, err = other.Update(context.Background(), candidate, metav1.UpdateOptions{})
				}
			}
			o.line(within(5*time.Second, func() bool { c := found(); return c != nil && !c.Spec.RenewTime.Equal(renewed) }))
			cancel()
			o.line(ends(done))
			seen := map[string]bool{}
			for _, asked := range s.takeRequests() {
				method, _, _ := strings.Cut(asked, " ")
				if method == "GET" && !strings.Contains(asked, "?") && !strings.Contains(asked, "fieldSelector") {
					continue // a request of the case itself
				}
				if method == "GET" {
					asked = strings.Join(strings.Fields(asked)[:2], " ") + " " + map[bool]string{true: "with the selector"}[strings.Contains(asked, "fieldSelector=metadata.name%3Dme")]
				}
				asked = resource.ReplaceAllString(asked, "VERSION")
				if !seen[asked] {
					o.line("asked", asked)
				}
				seen[asked] = true
			}
		})
	}
	try("lease candidate: a context that has ended", func(o *outcome) {
		s := serve(o)
		defer s.Close()
		c, waiter, err := leaderelection.NewCandidate(kubernetes.NewForConfigOrDie(s.config()), "ns", "me", "lease", "", "", "")
		o.line(kindOf(err), len(waiter.WaitForCacheSync(nil)))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		c.Run(ctx)
		o.line("returned")
	})
}
