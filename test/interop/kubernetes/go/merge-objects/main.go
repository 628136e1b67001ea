// Applies strategic merge patches with the code of Kubernetes.
//
// Argument `keys`: prints one line per merged list of the platform's kinds, `Pod.spec.containers name`. Without argument: standard input has
// one case in JSON per line, {"kind": "Pod", "object": {...}, "patch": {...}}, standard output one line per case, {"object": {...}} or
// {"error": "..."}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

var kinds = map[string]any{
	"ConfigMap":               corev1.ConfigMap{},
	"Deployment":              appsv1.Deployment{},
	"EndpointSlice":           discoveryv1.EndpointSlice{},
	"Event":                   corev1.Event{},
	"HorizontalPodAutoscaler": autoscalingv2.HorizontalPodAutoscaler{},
	"Namespace":               corev1.Namespace{},
	"Pod":                     corev1.Pod{},
	"PodDisruptionBudget":     policyv1.PodDisruptionBudget{},
	"Secret":                  corev1.Secret{},
	"Service":                 corev1.Service{},
	"ServiceAccount":          corev1.ServiceAccount{},
}

type example struct {
	Kind   string          `json:"kind"`
	Object json.RawMessage `json:"object"`
	Patch  json.RawMessage `json:"patch"`
}

func main() {
	if len(os.Args) > 1 {
		for name, object := range kinds {
			printKeys(name, reflect.TypeOf(object), nil)
		}
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var read example
		if err := json.Unmarshal(lines.Bytes(), &read); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(merge(read))
	}
}

func merge(read example) string {
	merged, err := strategicpatch.StrategicMergePatch(read.Object, read.Patch, kinds[read.Kind])
	if err != nil {
		text, _ := json.Marshal(map[string]string{"error": err.Error()})
		return string(text)
	}
	return `{"object":` + string(merged) + `}`
}

func printKeys(path string, t reflect.Type, outer []reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || slices.Contains(outer, t) {
		return
	}
	for i := 0; i < t.NumField(); i++ {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inner := path
		if name != "" {
			inner = path + "." + name
		}
		strategies := strings.Split(field.Tag.Get("patchStrategy"), ",")
		if slices.Contains(strategies, "merge") {
			fmt.Println(inner, field.Tag.Get("patchMergeKey"))
		}
		printKeys(inner, field.Type, append(outer, t))
	}
}
