package conformance

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
)

// storeOfInformerCases test the content of the store, and when it changes.
var storeOfInformerCases = []informerCase{
	{"an empty list syncs", func(p *caseT, o maker) { // DF-26, RF-19
		r := p.newRig(o, Setup{})
		defer r.close()
		h := r.record(0)
		r.startSynced()
		p.must(h.Synced(), "the handler is not synced")
		p.equal([]string{}, h.eventTexts(), "events")
	}},
	{"the informer is synced when the first list is stored, not before", func(p *caseT, o maker) {
		// SI-6, SI-7
		r := p.newRig(o, Setup{})
		defer r.close()
		r.create("a", "b")
		r.server.Inject(apitest.Fault{Times: 1, Action: apitest.Delay(10 * time.Second)})
		p.equal("", r.informer.ResourceVersion(), "version before the start")
		r.start()
		time.Sleep(5 * time.Second)
		p.must(!r.informer.Synced(), "the informer is synced too early")
		p.equal("", r.informer.ResourceVersion(), "version before the first list")
		r.eventually("the informer does not become synced", r.informer.Synced)
		p.equal(2, len(r.informer.Pods()), "number of pods")
		p.equal(r.server.ResourceVersion(), r.informer.ResourceVersion(), "version after the first list")
	}},
	{"a bookmark advances the store and notifies no handler", func(p *caseT, o maker) {
		// PD-7, RF-17
		r := p.newRig(o, Setup{})
		defer r.close()
		h := r.record(0)
		r.startSynced()
		_, err := r.server.Create(&corev1.ConfigMap{ObjectMeta: podOf("other", "1").ObjectMeta})
		p.succeeds(err)
		time.Sleep(time.Minute)
		p.equal(r.server.ResourceVersion(), r.informer.ResourceVersion(), "version")
		p.equal([]string{}, h.eventTexts(), "events")
	}},
	{"a relist is applied atomically", func(p *caseT, o maker) { // PD-5
		r := p.newRig(o, Setup{})
		defer r.close()
		r.create("a", "b", "c")
		var seen []string
		armed := false
		r.record(0, func(Event) {
			if armed {
				var all []string
				for key, version := range r.stored() {
					all = append(all, key+"@"+version)
				}
				seen = append(seen, fmt.Sprint(len(all), r.stored()))
			}
		})
		r.startSynced()
		armed = true
		r.disconnected(func() {
			r.update("a", "2")
			r.update("b", "2")
			r.delete("c")
			r.create("d")
		})
		p.must(len(seen) >= 4, "four changes were delivered in %d events", len(seen))
		for _, s := range seen {
			p.equal(fmt.Sprint(3, r.stored()), s, "the store, as a handler saw it")
		}
	}},
	{"transformed objects are stored and delivered", func(p *caseT, o maker) { // SI-30
		r := p.newRig(o, Setup{Transform: func(pod *corev1.Pod) (*corev1.Pod, error) {
			pod.Spec = corev1.PodSpec{}
			return pod, nil
		}})
		defer r.close()
		r.create("a")
		h := r.record(0)
		r.startSynced()
		events := h.take()
		p.equal(1, len(events), "number of events")
		p.equal(0, len(events[0].New.Spec.Containers), "containers that a handler sees")
		p.equal(0, len(r.informer.Get(key("a")).Spec.Containers), "containers that are stored")
	}},
	{"an object is transformed once", func(p *caseT, o maker) { // D23, RC-17
		calls := 0
		r := p.newRig(o, Setup{Transform: func(pod *corev1.Pod) (*corev1.Pod, error) {
			calls++
			return pod, nil
		}})
		defer r.close()
		r.create("a", "b", "c")
		r.startSynced()
		p.equal(3, calls, "calls for three objects")
		r.update("a", "2")
		r.settle()
		p.equal(4, calls, "calls after an update")
	}},
	{"a transform may drop the version", func(p *caseT, o maker) { // D12, SI-12
		r := p.newRig(o, Setup{Resync: 2 * time.Second, Transform: func(pod *corev1.Pod) (*corev1.Pod, error) {
			pod.ResourceVersion = ""
			return pod, nil
		}})
		defer r.close()
		r.create("a")
		h := r.record(0)
		r.record(2 * time.Second)
		r.startSynced()
		time.Sleep(time.Minute)
		h.take()
		r.update("a", "2")
		r.settle()
		p.equal([]string{"updated a@2"}, h.eventTexts(), "events")
	}},
	{"indexes have the first object", func(p *caseT, o maker) { // SI-31
		r := p.newRig(o, Setup{Indexes: map[string]func(*corev1.Pod) ([]string, error){
			"version": func(pod *corev1.Pod) ([]string, error) { return []string{pod.Labels["version"]}, nil },
		}})
		defer r.close()
		r.create("a")
		found := []string{}
		r.record(0, func(Event) {
			keys, err := r.informer.ByIndex("version", "1")
			if err == nil {
				found = append(found, names(keys)...)
			}
		})
		r.startSynced()
		p.equal([]string{"a"}, found, "keys that the index has at the first event")
	}},
	{"an informer runs once", func(p *caseT, o maker) { // SI-1
		r := p.newRig(o, Setup{})
		defer r.close()
		r.startSynced()
		began := time.Now()
		_ = r.informer.Run(context.Background()) // client-go's Run returns no error
		p.equal(time.Duration(0), time.Since(began), "duration of the second run")
		r.stop()
		_ = r.informer.Run(context.Background())
		p.equal(time.Duration(0), time.Since(began), "duration of a run after the stop")
	}},
}

// stored returns the label "version" of the stored objects, by name.
func (r *rig) stored() map[string]string {
	all := map[string]string{}
	for key, pod := range r.informer.Pods() {
		all[key.Name] = pod.Labels["version"]
	}
	return all
}
