package leaderelection

import "sync"

// LeaderMetric records changes in an election. name is the Name of the config.
type LeaderMetric interface {
	// On is called when the candidate becomes the leader.
	On(name string)
	// Off is called when the candidate is not the leader, or is no longer the leader.
	Off(name string)
	// SlowpathExercised is called when a leader had to read the lock before renewing it.
	SlowpathExercised(name string)
}

// MetricsProvider makes the metrics of a candidate.
type MetricsProvider interface {
	NewLeaderMetric() LeaderMetric
}

var provider struct {
	mu  sync.Mutex // guards following
	set MetricsProvider
}

// SetProvider sets the provider for candidates that are made later. Only the first call has an
// effect.
func SetProvider(metricsProvider MetricsProvider) {
	provider.mu.Lock()
	defer provider.mu.Unlock()
	if provider.set == nil {
		provider.set = metricsProvider
	}
}

func newLeaderMetric() LeaderMetric {
	provider.mu.Lock()
	defer provider.mu.Unlock()
	if provider.set == nil {
		return noMetric{}
	}
	return provider.set.NewLeaderMetric()
}

type noMetric struct{}

func (noMetric) On(string)                {}
func (noMetric) Off(string)               {}
func (noMetric) SlowpathExercised(string) {}
