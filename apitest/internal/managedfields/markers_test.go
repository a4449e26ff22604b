package managedfields

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write markers.txt anew")

// The markers in the file match the versions of k8s.io/api and k8s.io/apimachinery with which the
// module is built. The flag -update writes them.
func TestMarkersMatchTheKubernetesTypes(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, module := range []string{"k8s.io/api", "k8s.io/apimachinery"} {
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		require.NoError(t, err)
		root := strings.TrimSpace(string(dir))
		pattern := "*/*/types.go"
		if module == "k8s.io/apimachinery" {
			pattern = "pkg/apis/meta/v1/types.go"
		}
		files, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			path, err := filepath.Rel(root, filepath.Dir(file))
			require.NoError(t, err)
			lines = append(lines, markersOf(t, file, module+"/"+filepath.ToSlash(path))...)
		}
	}
	slices.Sort(lines)
	text := strings.Join(lines, "\n") + "\n"
	if *update {
		require.NoError(t, os.WriteFile("markers.txt", []byte(text), 0o600))
		return
	}
	require.Equal(t, text, markersText, "go test ./apitest/internal/managedfields -run Markers -update")
	read := parseMarkers(text)
	require.Equal(t, []string{"name"}, read.maps["k8s.io/api/core/v1.PodSpec.containers"])
	require.Equal(t, "TCP", read.defaults["k8s.io/api/core/v1.ContainerPort.protocol"])
	require.True(t, read.sets["k8s.io/apimachinery/pkg/apis/meta/v1.ObjectMeta.finalizers"])
	require.True(t, read.atomic["k8s.io/apimachinery/pkg/apis/meta/v1.LabelSelector"])
}

// markersOf parses the markers in a file.
func markersOf(t *testing.T, file, pkg string) (lines []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	require.NoError(t, err)
	for _, d := range parsed.Decls {
		declaration, ok := d.(*ast.GenDecl)
		if !ok || declaration.Tok != token.TYPE {
			continue
		}
		for _, s := range declaration.Specs {
			spec := s.(*ast.TypeSpec)
			name := pkg + "." + spec.Name.Name
			for _, doc := range []*ast.CommentGroup{declaration.Doc, spec.Doc} {
				if hasMarker(doc, "structType") == "atomic" || hasMarker(doc, "mapType") == "atomic" {
					lines = append(lines, name+" atomic")
				}
			}
			if fields, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range fields.Fields.List {
					lines = append(lines, markersOfField(field, name)...)
				}
			}
		}
	}
	return lines
}

func markersOfField(field *ast.Field, of string) (lines []string) {
	if field.Tag == nil {
		return nil
	}
	_, tag, _ := strings.Cut(field.Tag.Value, `json:"`)
	tag, _, _ = strings.Cut(tag, `"`)
	name, _, _ := strings.Cut(tag, ",")
	if name == "" || name == "-" {
		return nil
	}
	name = of + "." + name
	switch hasMarker(field.Doc, "listType") {
	case "set":
		lines = append(lines, name+" set")
	case "map":
		lines = append(lines, strings.Join(append([]string{name, "map"}, markerValues(field.Doc, "listMapKey")...), " "))
	}
	if hasMarker(field.Doc, "structType") == "atomic" || hasMarker(field.Doc, "mapType") == "atomic" {
		lines = append(lines, name+" atomic")
	}
	if value := hasMarker(field.Doc, "default"); json.Valid([]byte(value)) {
		lines = append(lines, fmt.Sprintf("%s default %s", name, value))
	}
	return lines
}

// hasMarker returns the value of a marker, or "" if the marker is missing.
func hasMarker(doc *ast.CommentGroup, name string) string {
	if values := markerValues(doc, name); len(values) > 0 {
		return values[0]
	}
	return ""
}

func markerValues(doc *ast.CommentGroup, name string) (values []string) {
	if doc == nil {
		return nil
	}
	for _, line := range doc.List {
		if value, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(line.Text, "//")), "+"+name+"="); ok {
			values = append(values, value)
		}
	}
	return values
}
