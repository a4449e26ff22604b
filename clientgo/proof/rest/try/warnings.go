package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"k8s.io/client-go/rest"
)

var warnings = map[string][]string{
	"one":            {`299 - "careful"`},
	"two":            {`299 - "a"`, `299 agent "b"`},
	"two in one":     {`299 - "a", 299 - "b"`},
	"dated":          {`299 - "a" "Wed, 21 Oct 2015 07:28:00 GMT"`},
	"other code":     {`110 host "stale"`, `199 - "x"`},
	"same":           {`299 - "a"`, `299 - "a"`, `299 - "b"`},
	"escaped":        {`299 - "a \"quoted\" \\ b"`},
	"empty":          {``},
	"empty text":     {`299 - ""`},
	"bad":            {`299`, `garbage`, `299 - unquoted`, `x - "y"`, `299 - "open`},
	"bad and good":   {`garbage`, `299 - "good"`, `299 - "open`},
	"good then bad":  {`299 - "good" rest`},
	"line breaks":    {"299 - \"a\tb\""},
	"unicode":        {`299 - "ä ü"`},
	"colour":         {"299 - \"\x1b[31mred\""},
	"long":           {`299 - "` + strings.Repeat("x", 5000) + `"`},
	"code of 4":      {`2990 - "x"`},
	"negative":       {`-299 - "x"`},
	"spaces":         {`  299   -   "x"  `},
	"three hundreds": {`300 - "x"`},
}

func tryWarnings() {
	s := serve(newResponse(200, textType, "fine"))
	defer s.Close()
	defer rest.SetDefaultWarningHandler(rest.NoWarnings{})
	for _, name := range sorted(warnings) {
		block("warning "+name, func() {
			for _, code := range []int{200, 404} {
				s.setResponses(newResponse(code, jsonType, encoded(jsonType, failure)).withHeader("Warning", warnings[name]...))
				plain := clientOf(s)
				both := clientOf(s, func(c *rest.Config) {
					c.WarningHandler, c.WarningHandlerWithContext = warningRecorder{"config"}, contextWarningRecorder{"config with context"}
				})
				old := clientOf(s, func(c *rest.Config) { c.WarningHandler = warningRecorder{"config"} })
				rest.SetDefaultWarningHandler(warningRecorder{"default"})
				for _, r := range []*rest.Request{
					plain.Get(), both.Get(), old.Get(), old.Get().WarningHandler(nil), old.Get().WarningHandlerWithContext(nil), old.Get().WarningHandler(warningRecorder{"request"}), old.Get().WarningHandlerWithContext(contextWarningRecorder{"request"}),
					both.Get().WarningHandler(rest.NoWarnings{}), plain.Get().WarningHandler(warningRecorder{"a"}).WarningHandlerWithContext(contextWarningRecorder{"b"}), plain.Get().WarningHandlerWithContext(contextWarningRecorder{"b"}).WarningHandler(warningRecorder{"a"}),
				} {
					ctx := context.WithValue(background, key{}, "of the request")
					line(text(r.Do(ctx).Warnings()))
					printCounts()
					_, _ = r.DoRaw(ctx)
					printCounts()
					streamed(ctx, r)
					printCounts()
				}
				rest.SetDefaultWarningHandlerWithContext(contextWarningRecorder{"default with context"})
				line(text(plain.Get().Do(background).Warnings()))
				printCounts()
			}
		})
	}
	for _, opts := range []rest.WarningWriterOptions{{}, {Deduplicate: true}, {Color: true}, {Deduplicate: true, Color: true}} {
		block(fmt.Sprintf("warning writer %v", opts), func() {
			var b bytes.Buffer
			w := rest.NewWarningWriter(&b, opts)
			for _, code := range []int{299, 199, 0, 110, 300} {
				for _, message := range []string{"a", "b", "a", "", " a", "with\nbreaks", "ä%s"} {
					w.HandleWarningHeader(code, "agent", message)
				}
			}
			w.HandleWarningHeader(299, "another", "a")
			line(w.WarningCount(), fmt.Sprintf("%q", b.String()))
		})
	}
	block("warnings without a default handler", func() {
		s.setResponses(newResponse(200, jsonType, "{}").withHeader("Warning", `299 - "a"`))
		for _, nobody := range []func(){func() { rest.SetDefaultWarningHandler(nil) }, func() { rest.SetDefaultWarningHandlerWithContext(nil) }} {
			printPanics(func() {
				nobody()
				line(text(clientOf(s).Get().Do(background).Warnings()))
			})
		}
		rest.SetDefaultWarningHandler(rest.NoWarnings{})
	})
	block("warnings beside a body that nobody can decode", func() {
		for _, code := range []int{200, 400} {
			for _, kind := range []string{textType, "x/y", "a/b/c", "-", jsonType, protobufType} {
				s.setResponses(newResponse(code, kind, "body").withHeader("Warning", `299 - "a"`))
				r := clientOf(s).Get().WarningHandler(warningRecorder{"request"})
				line(text(r.Do(background).Warnings()))
				showStream(r)
				showWatch(r)
				printCounts()
			}
		}
	})
	block("warnings to nobody", func() {
		rest.NoWarnings{}.HandleWarningHeader(299, "", "a")
		rest.NoWarnings{}.HandleWarningHeaderWithContext(background, 299, "", "a")
		rest.WarningLogger{}.HandleWarningHeader(299, "", "a")
		rest.WarningLogger{}.HandleWarningHeaderWithContext(background, 299, "", "a")
		line("done")
	})
}
