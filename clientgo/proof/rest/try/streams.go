package main

import (
	"context"
	"fmt"
	"io"

	"k8s.io/client-go/rest"
)

func showStream(r *rest.Request) {
	ctx, cancel := withShortTimeout()
	defer cancel()
	streamed(ctx, r)
}

func streamed(ctx context.Context, r *rest.Request) {
	body, err := r.Stream(ctx)
	if line("stream", body != nil, kindOf(err)); body == nil {
		return
	}
	data, err := io.ReadAll(body)
	line("streamed", short(data), kindOf(err))
	line("closed", kindOf(body.Close()))
}

func tryStreams() {
	s := serve(newResponse(200, textType, "fine"))
	defer s.Close()
	c := clientOf(s)
	warning := newResponse(200, textType, "fine").withHeader("Warning", `299 - "careful"`)
	block("streams", func() {
		for _, a := range []response{warning, newResponse(404, textType, "no"), newResponse(201, "x/y", "body"), newResponse(299, "-", "body"), newResponse(500, jsonType, encoded(jsonType, failure)), newResponse(400, jsonType, "{}"), newResponse(204, textType, "")} {
			s.setResponses(a)
			showStream(c.Get().WarningHandler(warningRecorder{"stream"}).Namespace("ns").Resource("pods").Name("p").SubResource("log").Param("follow", "true"))
			s.printRequests()
			printCounts()
		}
	})
	block("streams of bad requests", func() {
		showStream(c.Get().Name(""))
		showStream(c.Get().Namespace("").Name("x"))
		showStream(c.Post().Namespace(""))
		showStream(c.Verb("B A D"))
		showWatch(c.Get().Name(""))
		showWatch(c.Get().Namespace("").Name("x"))
		showWatch(c.Post().Namespace(""))
		showWatch(c.Verb("B A D"))
		s.printRequests()
		printCounts()
	})
	block("a stream is a ResponseWrapper", func() {
		var w rest.ResponseWrapper = c.Get().AbsPath("/x")
		s.setResponses(newResponse(200, textType, "fine"))
		raw, err := w.DoRaw(background)
		line(short(raw), kindOf(err))
		body, err := w.Stream(background)
		line(kindOf(err))
		data, err := io.ReadAll(body)
		line(short(data), kindOf(err), kindOf(body.Close()), fmt.Sprint(body.Close() == nil))
	})
}
