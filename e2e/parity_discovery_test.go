package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/discovery"
)

// missingResources lists, each with a reason, the resources that apitest does not have.
var missingResources = map[string]string{
	"bindings":                                     "only posted, in the place of pods/binding",
	"componentstatuses":                            "deprecated, and about servers that are not there",
	"nodes/proxy pods/proxy services/proxy":        "there is nothing behind a node or a pod",
	"pods/attach pods/exec pods/log":               "there are no containers",
	"pods/portforward":                             "there are no containers",
	"certificatesigningrequests/approval":          "nobody approves",
	"resourceclaims/binding resourceclaims/driver": "of the scheduler and of drivers alone",
}

// TestParityDiscovery compares the groups, with their order, and the kind, the verbs and the names
// of each resource. They must equal the real server's.
func TestParityDiscovery(t *testing.T) {
	var groups [2][]string
	var resources [2]map[string]string
	n := 0
	eachSide(t, func(t *testing.T, s side) {
		client, err := discovery.NewDiscoveryClientForConfig(s.config)
		require.NoError(t, err)
		all, lists, err := client.ServerGroupsAndResources()
		require.NoError(t, err)
		for _, group := range all {
			groups[n] = append(groups[n], group.Name)
		}
		resources[n] = map[string]string{}
		for _, list := range lists {
			for _, r := range list.APIResources {
				slices.Sort(r.Verbs)
				resources[n][list.GroupVersion+" "+r.Name] = fmt.Sprintf("%s.%s %s %q namespaced=%t %v %v %v",
					r.Group, r.Version, r.Kind, r.SingularName, r.Namespaced, r.Verbs, r.ShortNames, r.Categories)
			}
		}
		n++
	})
	common := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return !slices.Contains(other, name) })
	}
	require.Equal(t, common(groups[0], groups[1]), common(groups[1], groups[0]), "the order of groups must be the same")
	excused := map[string]bool{}
	for names := range missingResources {
		for _, name := range strings.Fields(names) {
			excused[name] = true
		}
	}
	compared := 0
	for name, want := range resources[0] {
		got, ok := resources[1][name]
		if !ok {
			short := name[strings.LastIndex(name, " ")+1:]
			stable := !strings.Contains(name, "alpha") && !strings.Contains(name, "beta")
			if stable && !excused[short] {
				t.Errorf("apitest lacks %s", name)
			}
			continue
		}
		compared++
		if got != want {
			t.Errorf("%s\nreal    %s\napitest %s", name, want, got)
		}
	}
	require.Greater(t, compared, 100)
}

// TestParityOpenAPIParses checks that client-go can parse both OpenAPI versions of both servers,
// and that it finds the same fields.
func TestParityOpenAPIParses(t *testing.T) {
	requireSameResults(t, func(t *testing.T, s side) (fields []string) {
		client, err := discovery.NewDiscoveryClientForConfig(s.config)
		require.NoError(t, err)
		two, err := client.OpenAPISchema()
		require.NoError(t, err)
		for _, named := range two.GetDefinitions().GetAdditionalProperties() {
			switch named.GetName() {
			case "io.k8s.api.core.v1.ConfigMap", "io.k8s.api.core.v1.ServicePort", "io.k8s.api.apps.v1.DeploymentStrategy", "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference":
				fields = append(fields, fmt.Sprint(named.GetName(), named.GetValue().GetRequired()))
				for _, p := range named.GetValue().GetProperties().GetAdditionalProperties() {
					fields = append(fields, fmt.Sprintf("%s: %s %s %s", p.GetName(), p.GetValue().GetType().GetValue(), p.GetValue().GetFormat(), p.GetValue().GetXRef()))
				}
			}
		}
		slices.Sort(fields)
		paths, err := client.OpenAPIV3().Paths()
		require.NoError(t, err)
		for _, name := range []string{"api/v1", "apis/apps/v1"} {
			schema, err := paths[name].Schema("application/json")
			require.NoError(t, err)
			require.NotEmpty(t, schema)
		}
		return fields
	})
}
