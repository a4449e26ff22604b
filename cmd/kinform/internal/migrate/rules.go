package migrate

// The queues of client-go and kinform have different names but few other differences, so rules can
// replace package workqueue. A use without a rule is listed with advice.

const (
	clientQueue  = clientGo + "/util/workqueue"
	kinformQueue = kinform + "/workqueue"
)

// renamed maps types and functions of client-go's package to kinform's. These differ in their names
// only. If only kinform's type has a type parameter, the parameter becomes any.
var renamed = map[string]string{
	"TypedRateLimitingInterface": "*Queue",
	"TypedDelayingInterface":     "*Queue",
	"TypedInterface":             "*Queue",
	"Typed":                      "Queue",
	"TypedRateLimiter":           "RateLimiter",
	"RateLimitingInterface":      "*Queue[any]",
	"DelayingInterface":          "*Queue[any]",
	"Interface":                  "*Queue[any]",
	"Type":                       "Queue[any]",
	"RateLimiter":                "RateLimiter[any]",

	"DefaultTypedControllerRateLimiter":         "DefaultRateLimiter",
	"DefaultTypedItemBasedRateLimiter":          "DefaultItemRateLimiter",
	"NewTypedItemExponentialFailureRateLimiter": "Exponential",
	"NewTypedItemFastSlowRateLimiter":           "FastSlow",
	"NewTypedMaxOfRateLimiter":                  "MaxOf",
	"NewTypedWithMaxWaitRateLimiter":            "WithMaxWait",
	"DefaultControllerRateLimiter":              "DefaultRateLimiter[any]",
	"DefaultItemBasedRateLimiter":               "DefaultItemRateLimiter[any]",
	"NewItemExponentialFailureRateLimiter":      "Exponential[any]",
	"NewItemFastSlowRateLimiter":                "FastSlow[any]",
	"NewMaxOfRateLimiter":                       "MaxOf[any]",
	"NewWithMaxWaitRateLimiter":                 "WithMaxWait[any]",
}

// argument is the rule for a parameter of a constructor.
type argument int

const (
	theLimiter argument = iota // becomes the option RateLimiter
	theName                    // becomes the option Name
	theConfig                  // a config literal; only its field Name has a counterpart
)

// constructors are the functions that return a queue, with the rules for their parameters.
var constructors = map[string][]argument{
	"NewTypedRateLimitingQueue":           {theLimiter},
	"NewTypedRateLimitingQueueWithConfig": {theLimiter, theConfig},
	"NewTypedDelayingQueue":               {},
	"NewTypedDelayingQueueWithConfig":     {theConfig},
	"NewTyped":                            {},
	"NewTypedWithConfig":                  {theConfig},
	"NewRateLimitingQueue":                {theLimiter},
	"NewRateLimitingQueueWithConfig":      {theLimiter, theConfig},
	"NewNamedRateLimitingQueue":           {theLimiter, theName},
	"NewDelayingQueue":                    {},
	"NewDelayingQueueWithConfig":          {theConfig},
	"NewNamedDelayingQueue":               {theName},
	"New":                                 {},
	"NewNamed":                            {theName},
	"NewWithConfig":                       {theConfig},
}

// buckets are the types whose literals become calls of [workqueue.Bucket].
var buckets = map[string]bool{"TypedBucketRateLimiter": true, "BucketRateLimiter": true}

// methods maps the methods of queues and limiters to their names in kinform. Get and
// ShutDownWithDrain have rules of their own.
var methods = map[string]string{
	"Add": "Add", "AddAfter": "AddAfter", "AddRateLimited": "Retry", "Done": "Done", "Forget": "Forget", "Len": "Len",
	"NumRequeues": "NumRequeues", "ShutDown": "ShutDown", "When": "When",
}

// otherwise returns the advice for a name of package workqueue that has no rule.
func otherwise(name string) string {
	switch name {
	case "Get":
		return "kinform's Get takes a context and returns an error: write key, err := queue.Get(ctx), or let queue.Run call the workers"
	case "ShuttingDown":
		return "kinform's queue has no such method: keep the context that ends the program"
	case "ShutDownWithDrain":
		return "kinform's counterpart is Drain(ctx), which returns an error"
	case "ParallelizeUntil", "DoWorkPieceFunc", "WithChunkSize", "Options":
		return "kinform has no counterpart: use golang.org/x/sync/errgroup with SetLimit"
	case "SetProvider", "MetricsProvider":
		return "kinform's metrics are per queue: see metrics.New and workqueue.Options.Observer"
	default:
		return "replace it by hand: see docs/coming-from-client-go.md"
	}
}

// byHand has the advice for packages of client-go without rules. The first entry whose prefix
// matches the import path applies.
var byHand = []struct{ prefix, advice string }{
	{"kubernetes/fake", "apitest.Start is a server over HTTP"},
	{"kubernetes/scheme", "not needed: a resource has its Go type"},
	{"kubernetes", "rest.NewClient and rest.For: one resource for each type"},
	{"dynamic/dynamicinformer", "informer.New with a source of *unstructured.Unstructured"},
	{"dynamic", "rest.For of *unstructured.Unstructured, with ResourceOptions.Resource"},
	{"metadata", "rest.For of *metav1.PartialObjectMetadata, with ResourceOptions.Resource"},
	{"discovery", "discovery.Resources and discovery.NewMapper"},
	{"restmapper", "discovery.NewMapper"},
	{"informers", "informer.New, or informer.Factory and informer.Acquire"},
	{"listers", "indexer.NewLister"},
	{"rest", "rest.Config and rest.NewClient: they link no more than they need"},
	{"tools/cache", "informer.New, indexer.Reader; keys are types.NamespacedName, so MetaNamespaceKeyFunc and SplitMetaNamespaceKey go away"},
	{"tools/clientcmd", "kubeconfig.Load"},
	{"tools/events", "events.New"},
	{"tools/leaderelection", "lease.New: candidates of both libraries can share a Lease"},
	{"tools/pager", "rest.Resource.List is a stream of pages"},
	{"tools/record", "events.New"},
	{"tools/watch", "reflector.New, or await.Until"},
	{"util/flowcontrol", "rest.NewRateLimiter"},
	{"util/homedir", "os.UserHomeDir, or kubeconfig.Load, which finds the file"},
	{"util/retry", "a loop, or a reconcile that returns the error: see Conflicts in docs/coming-from-client-go.md"},
}
