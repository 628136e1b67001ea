// Judges CustomResourceDefinitions and objects of their kinds as an API server of Kubernetes does.
//
// Standard input: one line of JSON per definition, {"definition": {...}, "objects": [{"object": {...}, "before": {...}}]}. Standard output: one
// line per definition, {"errors": [...], "verdicts": [{"errors": [...], "unknown": [...], "object": {...}}]}; a definition with errors has no
// verdicts.
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
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

type example struct {
	Definition v1.CustomResourceDefinition `json:"definition"`
	Objects    []struct {
		Object map[string]any `json:"object"`
		Before map[string]any `json:"before"`
	} `json:"objects"`
}

type verdict struct {
	Errors  []string       `json:"errors"`
	Unknown []string       `json:"unknown"`
	Object  map[string]any `json:"object"`
}

type answer struct {
	Errors   []string  `json:"errors"`
	Verdicts []verdict `json:"verdicts"`
}

func main() {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var read example
		must(json.Unmarshal(lines.Bytes(), &read))
		must(out.Encode(judge(scheme, read)))
	}
}

func judge(scheme *runtime.Scheme, read example) answer {
	crd := &apiextensions.CustomResourceDefinition{}
	v1.SetDefaults_CustomResourceDefinition(&read.Definition)
	v1.SetDefaults_CustomResourceDefinitionSpec(&read.Definition.Spec)
	must(scheme.Convert(&read.Definition, crd, nil))
	if problems := definitions.ValidateCustomResourceDefinition(context.Background(), crd); len(problems) > 0 {
		return answer{texts(problems), nil}
	}
	props := crd.Spec.Validation
	if props == nil {
		props = crd.Spec.Versions[0].Schema
	}
	structural, err := schema.NewStructural(props.OpenAPIV3Schema)
	must(err)
	values, _, err := validation.NewSchemaValidator(props.OpenAPIV3Schema)
	must(err)
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	verdicts := []verdict{}
	for _, each := range read.Objects {
		object := integers(each.Object).(map[string]any)
		before, _ := integers(each.Before).(map[string]any)
		unknown := pruning.PruneWithOptions(object, structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
		defaulting.PruneNonNullableNullsWithoutDefaults(object, structural)
		defaulting.Default(object, structural)
		problems := validation.ValidateCustomResource(nil, object, values)
		problems = append(problems, listtype.ValidateListSetsAndMaps(nil, structural, object)...)
		problems = append(problems, objectmeta.Validate(context.Background(), nil, object, structural, false)...)
		if rules != nil && !blocks(problems) {
			var old any
			if before != nil {
				old = before
			}
			more, _ := rules.Validate(context.Background(), nil, structural, object, old, celconfig.RuntimeCELCostBudget)
			problems = append(problems, more...)
		}
		verdicts = append(verdicts, verdict{texts(problems), unknown, object})
	}
	return answer{[]string{}, verdicts}
}

// Rules are not evaluated on objects with such errors.
func blocks(problems field.ErrorList) bool {
	for _, problem := range problems {
		switch problem.Type {
		case field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		}
	}
	return false
}

func texts(problems field.ErrorList) []string {
	found := []string{}
	for _, problem := range problems {
		found = append(found, problem.Error())
	}
	return found
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
