//lint:file-ignore SA1019 what is deprecated is compared as well

package main

import (
	"os"
	"path/filepath"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/auth"
	"k8s.io/client-go/tools/reference"
)

func tryReferences() {
	for name := range subjects() {
		for kind, s := range map[string]*runtime.Scheme{"scheme": scheme.Scheme, "empty scheme": runtime.NewScheme()} {
			try("reference: "+name+", "+kind, func(o *outcome) {
				object := subjects()[name] // a new object, because the case changes its reference
				o.panics("whole", func() {
					r, err := reference.GetReference(s, object)
					o.line(text(r), kindOf(err), r != nil && any(r) == any(object))
				})
				for _, path := range []string{"", "spec.x"} {
					o.panics("part", func() {
						r, err := reference.GetPartialReference(s, object, path)
						o.line(text(r), kindOf(err))
					})
				}
			})
		}
	}
	try("reference: fields of an object", func(o *outcome) {
		object := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", GenerateName: "g", SelfLink: "/api/v1/x", UID: "u", ResourceVersion: "9"}}
		r, err := reference.GetReference(scheme.Scheme, object)
		o.line(text(r), kindOf(err), text(object))
		o.line(reference.ErrNilObject)
	})
	tryAuthInfos()
}

func tryAuthInfos() {
	contents := map[string]string{
		"empty": "", "{}": "{}", "null": "null", "a user": `{"User":"u","Password":"p"}`, "small letters": `{"user":"u","caFile":"c","certfile":"f","keyFILE":"k","bearerToken":"t","insecure":true}`,
		"not insecure": `{"Insecure":false,"BearerToken":"t"}`, "malformed": `{`, "a list": `[]`, "wrong types": `{"User":3}`, "more": `{"User":"u","Other":1} x`, "cert": `{"CertFile":"c"}`, "key": `{"KeyFile":"c"}`,
	}
	for name, content := range contents {
		try("auth info: "+name, func(o *outcome) {
			directory, err := os.MkdirTemp("", "try")
			if err != nil {
				panic(err)
			}
			defer func() { _ = os.RemoveAll(directory) }()
			path := filepath.Join(directory, "auth")
			_ = os.WriteFile(path, []byte(content), 0o600)
			info, err := auth.LoadFromFile(path)
			o.line(text(info), info == nil, err != nil)
			if info == nil {
				return
			}
			o.line(info.Complete())
			merged, err := info.MergeWithConfig(rest.Config{Host: "h", Username: "old", BearerToken: "old", TLSClientConfig: rest.TLSClientConfig{CAFile: "old", Insecure: true, CertFile: "old", KeyFile: "old"}})
			o.line(merged.Host, merged.Username, merged.Password, merged.BearerToken, merged.CAFile, merged.CertFile, merged.KeyFile, merged.Insecure, kindOf(err))
			_, err = auth.LoadFromFile(path + "x")
			o.line(os.IsNotExist(err))
		})
	}
}
