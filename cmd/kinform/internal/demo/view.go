package demo

import (
	"context"
	"fmt"
	"net"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/cmd/kinform/internal/browse"
	"github.com/kinform/kinform/cmd/kinform/internal/recording"
	"github.com/kinform/kinform/view"
)

// pageServer is the page of a run. A nil *pageServer stands for a run without a page.
type pageServer struct {
	*view.View
	url   string
	stop  context.CancelFunc
	ended chan error
}

// servePage serves a page that shows the server's pipeline, or returns nil if the options want no
// page.
func (o Options) servePage(server *apitest.Server) (*pageServer, error) {
	if !o.View {
		return nil, nil
	}
	v, err := view.New(view.Options{Title: "kinform demo", IndexValues: true, Server: func() view.Server {
		return view.Server{ResourceVersion: server.ResourceVersion(), Oldest: server.OldestResourceVersion(), Objects: -1}
	}})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &pageServer{View: v, url: fmt.Sprintf("http://%v/", listener.Addr()), stop: stop, ended: make(chan error, 1)}
	go func() { s.ended <- v.Serve(ctx, listener) }()
	return s, nil
}

// close closes the page and waits for its end.
func (s *pageServer) close() error {
	if s == nil {
		return nil
	}
	s.stop()
	return <-s.ended
}

// record writes the page's frames to a new file.
func (s *pageServer) record(path string) (*recording.File, error) {
	if s == nil {
		return nil, nil
	}
	return recording.Start(s.View, path)
}

// instructions returns a text with the address of the page, or "" if there is no page.
func (s *pageServer) instructions() string {
	if s == nil {
		return ""
	}
	return browse.Instructions(s.View, s.url)
}
