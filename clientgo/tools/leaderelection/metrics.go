package leaderelection

import "sync"

// LeaderMetric is told what happens in an election, with the name of the config.
type LeaderMetric interface {
	// On: the candidate leads.
	On(name string)
	// Off: it does not.
	Off(name string)
	// SlowpathExercised: a leader had to read the lock before it could renew it.
	SlowpathExercised(name string)
}

// MetricsProvider makes metrics, for each candidate.
type MetricsProvider interface {
	NewLeaderMetric() LeaderMetric
}

var provider struct {
	mu  sync.Mutex // guards following
	set MetricsProvider
}

// SetProvider sets the provider for candidates that are made later. The first call counts.
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
