// Tracks the managers of fields, and applies configuration, with the code of Kubernetes for custom resources.
//
// Argument: a file with the schema of the kind Example in JSON. Standard input: one sequence of writes of one object in JSON per line, standard
// output: a list with the outcome of each write per line, {"object": {...}}, {"conflict": "..."} or {"error": "..."}.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

var kind = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Example"}

type write struct {
	// Apply or Update
	Operation   string         `json:"operation"`
	Manager     string         `json:"manager"`
	Subresource string         `json:"subresource"`
	Force       bool           `json:"force"`
	Object      map[string]any `json:"object"`
}

func main() {
	types := converter(os.Args[1])
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines.Scan() {
		var writes []write
		must(json.Unmarshal(lines.Bytes(), &writes))
		must(out.Encode(run(types, writes)))
	}
}

func converter(path string) managedfields.TypeConverter {
	text, err := os.ReadFile(path)
	must(err)
	var root apiextensionsv1.JSONSchemaProps
	must(json.Unmarshal(text, &root))
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "examples.example.dev"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: kind.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Example", ListKind: "ExampleList", Plural: "examples", Singular: "example"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: kind.Version, Served: true, Storage: true,
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &root},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
	document, err := builder.BuildOpenAPIV3(crd, kind.Version, builder.Options{})
	must(err)
	models := map[string]*spec.Schema{}
	for name, model := range document.Components.Schemas {
		models[name] = model
	}
	types, err := managedfields.NewTypeConverter(models, false)
	must(err)
	return types
}

func managerOf(types managedfields.TypeConverter, subresource string) *managedfields.FieldManager {
	reset := fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
	if subresource == "status" {
		reset = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))
	}
	filters := fieldpath.NewExcludeFilterSetMap(map[fieldpath.APIVersion]*fieldpath.Set{"example.dev/v1": reset})
	manager, err := managedfields.NewDefaultCRDFieldManager(types, same{}, same{}, same{}, kind, kind.GroupVersion(), subresource, filters)
	must(err)
	return manager
}

func run(types managedfields.TypeConverter, writes []write) []map[string]any {
	outcomes := []map[string]any{}
	var live *unstructured.Unstructured
	for _, w := range writes {
		if live == nil && w.Subresource != "" {
			outcomes = append(outcomes, map[string]any{"error": "not found"})
			continue
		}
		manager := managerOf(types, w.Subresource)
		before := live
		if before == nil {
			before = empty()
		}
		given := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(integers(w.Object).(map[string]any))}
		var next runtime.Object
		var err error
		if w.Operation == "Apply" {
			next, err = manager.Apply(before.DeepCopy(), given, w.Manager, w.Force)
		} else {
			next, err = manager.Update(before.DeepCopy(), stored(live, given, w.Subresource), w.Manager)
		}
		var status *apierrors.StatusError
		switch {
		case errors.As(err, &status) && apierrors.IsConflict(err):
			outcomes = append(outcomes, map[string]any{"conflict": status.ErrStatus.Message})
			continue
		case err != nil:
			outcomes = append(outcomes, map[string]any{"error": err.Error()})
			continue
		}
		live = stored(live, next.(*unstructured.Unstructured), w.Subresource)
		outcomes = append(outcomes, map[string]any{"object": live.DeepCopy().Object})
	}
	return outcomes
}

// What a request can write of an object: all but the status, or only that. Members that are null are pruned.
func stored(live, next *unstructured.Unstructured, subresource string) *unstructured.Unstructured {
	result := next.DeepCopy()
	if live == nil {
		delete(result.Object, "status")
	} else if subresource == "status" {
		status, found := result.Object["status"]
		managers := result.GetManagedFields()
		result = live.DeepCopy()
		delete(result.Object, "status")
		if found {
			result.Object["status"] = status
		}
		result.SetManagedFields(managers)
	} else if status, found := live.Object["status"]; found {
		result.Object["status"] = runtime.DeepCopyJSONValue(status)
	} else {
		delete(result.Object, "status")
	}
	result.SetUID("1")
	prune(result.Object)
	return result
}

func prune(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		for name, member := range typed {
			if member == nil {
				delete(typed, name)
			} else {
				typed[name] = prune(member)
			}
		}
	case []any:
		kept := []any{}
		for _, item := range typed {
			if item != nil {
				kept = append(kept, prune(item))
			}
		}
		return kept
	}
	return value
}

func empty() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object
}

// There is one version, without defaults.
type same struct{}

func (same) Convert(in, out, context any) error { return errors.New("not supported") }
func (same) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}
func (same) ConvertFieldLabel(_ schema.GroupVersionKind, _, _ string) (string, string, error) {
	return "", "", errors.New("not supported")
}
func (same) Default(runtime.Object) {}
func (same) New(schema.GroupVersionKind) (runtime.Object, error) {
	return empty(), nil
}

// JSON numbers without a fraction are integers, as in an API server.
func integers(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		for key, member := range typed {
			typed[key] = integers(member)
		}
	case []any:
		for index, item := range typed {
			typed[index] = integers(item)
		}
	case float64:
		if typed == float64(int64(typed)) {
			return int64(typed)
		}
	}
	return value
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
