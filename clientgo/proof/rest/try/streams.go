package main

import (
	"context"
	"fmt"
	"io"

	"k8s.io/client-go/rest"
)

func showStream(r *rest.Request) {
	ctx, cancel := soon()
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
	s := serve(with(200, textType, "fine"))
	defer s.Close()
	c := clientOf(s)
	warning := with(200, textType, "fine").plus("Warning", `299 - "careful"`)
	block("streams", func() {
		for _, a := range []answer{warning, with(404, textType, "no"), with(201, "x/y", "body"), with(299, "-", "body"), with(500, jsonType, encoded(jsonType, failure)), with(400, jsonType, "{}"), with(204, textType, "")} {
			s.answering(a)
			showStream(c.Get().WarningHandler(heard{"stream"}).Namespace("ns").Resource("pods").Name("p").SubResource("log").Param("follow", "true"))
			s.asked()
			counted()
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
		s.asked()
		counted()
	})
	block("a stream is a ResponseWrapper", func() {
		var w rest.ResponseWrapper = c.Get().AbsPath("/x")
		s.answering(with(200, textType, "fine"))
		raw, err := w.DoRaw(background)
		line(short(raw), kindOf(err))
		body, err := w.Stream(background)
		line(kindOf(err))
		data, err := io.ReadAll(body)
		line(short(data), kindOf(err), kindOf(body.Close()), fmt.Sprint(body.Close() == nil))
	})
}
