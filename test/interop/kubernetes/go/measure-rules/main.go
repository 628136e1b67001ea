// Measures the validation rules of CustomResourceDefinitions as an API server of Kubernetes estimates their cost.
//
// Arguments: files with CustomResourceDefinitions. Standard output: one line per file,
// {"name": "...", "rules": n, "total": n, "totalLimit": n, "costliest": n, "ruleLimit": n, "path": "..."}.
package main

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	definitions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

type measure struct {
	Name       string `json:"name"`
	Rules      int    `json:"rules"`
	Total      uint64 `json:"total"`
	TotalLimit uint64 `json:"totalLimit"`
	Costliest  uint64 `json:"costliest"`
	RuleLimit  uint64 `json:"ruleLimit"`
	Path       string `json:"path"`
}

var environments = environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())

func main() {
	out := json.NewEncoder(os.Stdout)
	for _, path := range os.Args[1:] {
		crd := load(path)
		for _, version := range crd.Spec.Versions {
			schema := version.Schema
			if schema == nil {
				schema = crd.Spec.Validation
			}
			found := measure{
				Name:       crd.Name + " " + version.Name,
				TotalLimit: definitions.StaticEstimatedCRDCostLimit,
				RuleLimit:  definitions.StaticEstimatedCostLimit,
			}
			found.walk(schema.OpenAPIV3Schema, definitions.RootCELContext(schema.OpenAPIV3Schema), "")
			must(out.Encode(found))
		}
	}
}

// As validation.go of the API server: the cost of a rule counts as often as its value can occur in an object.
func (m *measure) walk(schema *apiextensions.JSONSchemaProps, at *definitions.CELSchemaContext, path string) {
	for name, property := range schema.Properties {
		m.walk(&property, at.ChildPropertyContext(&property, name), path+"."+name)
	}
	if items := schema.Items; items != nil && items.Schema != nil {
		m.walk(items.Schema, at.ChildItemsContext(items.Schema), path+"[]")
	}
	if additional := schema.AdditionalProperties; additional != nil && additional.Schema != nil {
		m.walk(additional.Schema, at.ChildAdditionalPropertiesContext(additional.Schema), path+".*")
	}
	if len(schema.XValidations) == 0 {
		return
	}
	types, err := at.TypeInfo()
	must(err)
	results, err := cel.Compile(types.Schema, types.DeclType, celconfig.PerCallLimit, environments, cel.NewExpressionsEnvLoader())
	must(err)
	for _, result := range results {
		cardinality := result.MaxCardinality
		if at.MaxCardinality != nil {
			cardinality = *at.MaxCardinality
		}
		m.add(product(result.MaxCost, cardinality), path)
		if result.MessageExpression != nil {
			m.add(result.MessageExpressionMaxCost, path)
		}
	}
	m.Rules += len(results)
}

func (m *measure) add(cost uint64, path string) {
	m.Total += cost
	if cost > m.Costliest {
		m.Costliest, m.Path = cost, path
	}
}

func product(cost, cardinality uint64) uint64 {
	if high, low := bits.Mul64(cost, cardinality); high == 0 {
		return low
	}
	return ^uint64(0) >> 1
}

func load(path string) *apiextensions.CustomResourceDefinition {
	text, err := os.ReadFile(path)
	must(err)
	scheme := runtime.NewScheme()
	install.Install(scheme)
	decoded, _, err := serializer.NewCodecFactory(scheme).UniversalDeserializer().Decode(text, nil, nil)
	must(err)
	crd := &apiextensions.CustomResourceDefinition{}
	must(scheme.Convert(decoded.(*v1.CustomResourceDefinition), crd, nil))
	return crd
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
