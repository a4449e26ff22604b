package remotecommand

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/util/remotecommand"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/transport/websocket"
)

type websocketExecutor struct {
	config      *restclient.Config
	method, url string
	protocols   []string
}

// NewWebSocketExecutor returns an executor that connects by a websocket. It offers only version 5
// of the protocol. In older versions there is no message for the end of the input, so a command
// that reads to the end would not end.
func NewWebSocketExecutor(config *restclient.Config, method, url string) (Executor, error) {
	return NewWebSocketExecutorForProtocols(config, method, url, remotecommand.StreamProtocolV5Name)
}

// NewWebSocketExecutorForProtocols is [NewWebSocketExecutor] with these protocols, in order of
// preference.
func NewWebSocketExecutorForProtocols(config *restclient.Config, method, url string, protocols ...string) (Executor, error) {
	// Each request makes a new transport from the config as it is then. This call only reports
	// errors of the config early.
	if _, _, err := websocket.RoundTripperFor(config); err != nil {
		return nil, fmt.Errorf("error creating websocket transports: %w", err)
	}
	return &websocketExecutor{config: restclient.CopyConfig(config), method: method, url: url, protocols: protocols}, nil
}

func (e *websocketExecutor) Stream(options StreamOptions) error {
	return e.StreamWithContext(context.Background(), options)
}

func (e *websocketExecutor) StreamWithContext(ctx context.Context, options StreamOptions) error {
	rt, holder, err := websocket.RoundTripperFor(e.config)
	if err != nil {
		return fmt.Errorf("error creating websocket transports: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, e.method, e.url, nil)
	if err != nil {
		return err
	}
	conn, err := websocket.Negotiate(rt, holder, req, e.protocols...)
	if err != nil {
		return err
	}
	c := newChannels(conn, holder.DataBufferSize())
	defer c.close()
	return run(ctx, versionOf(ctx, conn.Subprotocol()), options, c, c.close)
}
