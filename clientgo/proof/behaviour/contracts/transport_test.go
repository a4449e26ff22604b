package contracts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/transport"
)

// emptyRoundTripper is a round tripper that returns neither a response nor an error.
type emptyRoundTripper struct{}

func (emptyRoundTripper) RoundTrip(*http.Request) (*http.Response, error) { return nil, nil }

func TestATokenSourceSurvivesARoundTripperWithoutAResponse(t *testing.T) {
	source := transport.NewCachedTokenSource(oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "t"}))
	request, err := http.NewRequest(http.MethodGet, "http://server.example", nil)
	require.NoError(t, err)
	response, err := transport.ResettableTokenSourceWrapTransport(source)(emptyRoundTripper{}).RoundTrip(request)
	require.NoError(t, err)
	require.Nil(t, response)
}

// A program may change the TLS configuration of a transport that has only a custom dialer.
func TestATransportWithADialerHasATLSConfiguration(t *testing.T) {
	dial := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("E") }
	rt, err := transport.New(&transport.Config{DialHolder: &transport.DialHolder{Dial: dial}})
	require.NoError(t, err)
	configuration, err := utilnet.TLSClientConfig(rt)
	require.NoError(t, err)
	require.NotNil(t, configuration)
}

func TestAPrintedConfigHasClientGosFields(t *testing.T) {
	text := fmt.Sprint(&restclient.Config{Host: "h", TLSClientConfig: restclient.TLSClientConfig{KeyData: []byte("secret")}})
	require.Contains(t, text, "TLSClientConfig:rest.sanitizedTLSClientConfig{Insecure:false")
	require.Regexp(t, `Proxy:\(func\([^}]*\)\(nil\)}$`, text)
	require.NotContains(t, text, "secret")
}

func TestADuplicateNameInAKubeconfigIsAnError(t *testing.T) {
	_, err := clientcmd.Load([]byte("apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: one}}, {name: a, cluster: {server: two}}]\n"))
	require.ErrorContains(t, err, `error converting *[]NamedCluster into *map[string]*api.Cluster: duplicate name "a" in list`)
}
