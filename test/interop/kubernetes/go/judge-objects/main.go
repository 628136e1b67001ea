// Judges custom resources as an API server of Kubernetes does: with its own code for CustomResourceDefinitions.
//
// Arguments: files with CustomResourceDefinitions. Standard input: one object in JSON per line. Standard output: one line per definition that
// is refused, and one line per object, {"accepted": bool, "errors": [...], "object": {...}}, the object with its defaults.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	definitions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

type kind struct {
	structural *schema.Structural
	values     validation.SchemaValidator
	rules      *cel.Validator
}

type verdict struct {
	Accepted bool           `json:"accepted"`
	Errors   []string       `json:"errors"`
	Unknown  []string       `json:"unknown"`
	Object   map[string]any `json:"object"`
}

func main() {
	kinds := map[string]kind{}
	for _, path := range os.Args[1:] {
		name, read := load(path)
		kinds[name] = read
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var object map[string]any
		must(json.Unmarshal(lines.Bytes(), &object))
		object = runtime.DeepCopyJSON(integers(object).(map[string]any))
		name, _ := object["kind"].(string)
		must(out.Encode(judge(kinds[name], object)))
	}
}

func load(path string) (string, kind) {
	text, err := os.ReadFile(path)
	must(err)
	scheme := runtime.NewScheme()
	install.Install(scheme)
	decoded, _, err := serializer.NewCodecFactory(scheme).UniversalDeserializer().Decode(text, nil, nil)
	must(err)
	crd := &apiextensions.CustomResourceDefinition{}
	versioned := decoded.(*v1.CustomResourceDefinition)
	v1.SetDefaults_CustomResourceDefinition(versioned)
	v1.SetDefaults_CustomResourceDefinitionSpec(&versioned.Spec)
	must(scheme.Convert(versioned, crd, nil))
	if problems := definitions.ValidateCustomResourceDefinition(context.Background(), crd); len(problems) > 0 {
		for _, problem := range problems {
			line := problem.Error()
			if len(line) > 600 {
				line = line[:600]
			}
			fmt.Fprintln(os.Stderr, path+": "+line)
		}
		os.Exit(1)
	}
	props := crd.Spec.Validation
	if props == nil {
		props = crd.Spec.Versions[0].Schema
	}
	structural, err := schema.NewStructural(props.OpenAPIV3Schema)
	must(err)
	values, _, err := validation.NewSchemaValidator(props.OpenAPIV3Schema)
	must(err)
	return crd.Spec.Names.Kind, kind{structural, values, cel.NewValidator(structural, true, celconfig.PerCallLimit)}
}

func judge(k kind, object map[string]any) verdict {
	found := []string{}
	unknown := pruning.PruneWithOptions(object, k.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(object, k.structural)
	defaulting.Default(object, k.structural)
	problems := validation.ValidateCustomResource(field.NewPath(""), object, k.values)
	problems = append(problems, listtype.ValidateListSetsAndMaps(nil, k.structural, object)...)
	if len(problems) == 0 {
		rules, _ := k.rules.Validate(context.Background(), nil, k.structural, object, nil, celconfig.RuntimeCELCostBudget)
		problems = rules
	}
	for _, problem := range problems {
		found = append(found, problem.Error())
	}
	return verdict{len(problems) == 0, found, unknown, object}
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
