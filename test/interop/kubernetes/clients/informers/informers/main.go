// Uses the API of a gateway through client-go and controller-runtime: typed clients, informers, the dynamic client, a cache. Prints one line
// per check: its name, and what was seen.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

var backends = schema.GroupVersionResource{Group: "gatewright.dev", Version: "v1alpha1", Resource: "proxybackends"}

func main() {
	log.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	context, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	typed(context, config, "json", "application/json")
	typed(context, config, "protobuf", "application/vnd.kubernetes.protobuf")
	dynamicClient(context, config)
	runtimeCache(context, config)
}

func say(name string, format string, values ...any) {
	fmt.Printf("%s\t%s\n", name, fmt.Sprintf(format, values...))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// typed creates, changes and deletes a ConfigMap and a Lease while an informer follows.
func typed(ctx context.Context, base *rest.Config, name string, contentType string) {
	config := rest.CopyConfig(base)
	config.ContentType = contentType
	clients, err := kubernetes.NewForConfig(config)
	must(err)
	events := make(chan string, 100)
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace("default"))
	informer := factory.Core().V1().ConfigMaps().Informer()
	_, err = informer.AddEventHandler(follow(events))
	must(err)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	maps := clients.CoreV1().ConfigMaps("default")
	object := &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Name: "typed-" + name}, Data: map[string]string{"a": "1"}}
	created, err := maps.Create(ctx, object, meta.CreateOptions{})
	must(err)
	say(name+" create", "%s", await(events))
	created.Data["a"] = "2"
	_, err = maps.Update(ctx, created, meta.UpdateOptions{})
	must(err)
	say(name+" update", "%s", await(events))
	_, err = maps.Update(ctx, created, meta.UpdateOptions{})
	say(name+" conflict", "%t", apierrors.IsConflict(err))
	_, err = maps.Patch(ctx, object.Name, types.StrategicMergePatchType, []byte(`{"data":{"b":"3"}}`), meta.PatchOptions{})
	must(err)
	say(name+" patch", "%s", await(events))
	must(maps.Delete(ctx, object.Name, meta.DeleteOptions{Preconditions: &meta.Preconditions{UID: &created.UID}}))
	say(name+" delete", "%s", await(events))
	_, err = maps.Get(ctx, object.Name, meta.GetOptions{})
	say(name+" absent", "%t", apierrors.IsNotFound(err))
	holder := "me"
	lease := &coordination.Lease{ObjectMeta: meta.ObjectMeta{Name: "lease-" + name}, Spec: coordination.LeaseSpec{HolderIdentity: &holder, RenewTime: &meta.MicroTime{Time: time.Unix(1700000000, 123456000)}}}
	held, err := clients.CoordinationV1().Leases("default").Create(ctx, lease, meta.CreateOptions{})
	must(err)
	say(name+" lease", "%s %d", *held.Spec.HolderIdentity, held.Spec.RenewTime.UnixMicro())
	must(clients.CoordinationV1().Leases("default").Delete(ctx, lease.Name, meta.DeleteOptions{}))
}

func follow(events chan string) toolscache.ResourceEventHandlerFuncs {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { events <- "added " + nameOf(object) },
		UpdateFunc: func(_, object any) { events <- "updated " + nameOf(object) },
		DeleteFunc: func(object any) { events <- "deleted " + nameOf(object) },
	}
}

func nameOf(object any) string {
	if last, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	return object.(meta.Object).GetName()
}

func await(events chan string) string {
	for {
		select {
		case event := <-events:
			// The namespace may have an object of the platform.
			if event != "added kube-root-ca.crt" {
				return event
			}
		case <-time.After(20 * time.Second):
			return "nothing"
		}
	}
}

func backend(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "gatewright.dev/v1alpha1", "kind": "ProxyBackend",
		"metadata": map[string]any{"name": name, "namespace": "default"},
		"spec":     map[string]any{"static": map[string]any{"host": "a.test", "port": int64(80)}},
	}}
}

// dynamicClient follows ProxyBackends with an informer.
func dynamicClient(ctx context.Context, config *rest.Config) {
	clients, err := dynamic.NewForConfig(config)
	must(err)
	events := make(chan string, 100)
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(clients, 0, "default", nil)
	_, err = factory.ForResource(backends).Informer().AddEventHandler(follow(events))
	must(err)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	resource := clients.Resource(backends).Namespace("default")
	_, err = resource.Create(ctx, backend("dynamic"), meta.CreateOptions{})
	must(err)
	say("dynamic create", "%s", await(events))
	broken := backend("broken")
	broken.Object["spec"] = map[string]any{}
	_, err = resource.Create(ctx, broken, meta.CreateOptions{})
	say("dynamic invalid", "%t", apierrors.IsInvalid(err))
	applied := backend("dynamic")
	applied.SetLabels(map[string]string{"a": "b"})
	_, err = resource.Apply(ctx, "dynamic", applied, meta.ApplyOptions{FieldManager: "interop", Force: true})
	must(err)
	got, err := resource.Get(ctx, "dynamic", meta.GetOptions{})
	must(err)
	say("dynamic apply", "%s", got.GetLabels()["a"])
	list, err := resource.List(ctx, meta.ListOptions{Limit: 1, LabelSelector: "a=b"})
	must(err)
	say("dynamic list", "%d", len(list.Items))
	must(resource.DeleteCollection(ctx, meta.DeleteOptions{}, meta.ListOptions{LabelSelector: "a=b"}))
	for {
		event := await(events)
		if event != "updated dynamic" {
			say("dynamic delete", "%s", event)
			return
		}
	}
}

// runtimeCache reads through the cache of controller-runtime, and writes with its client.
func runtimeCache(ctx context.Context, config *rest.Config) {
	cached, err := cache.New(config, cache.Options{})
	must(err)
	go func() { must(cached.Start(ctx)) }()
	writer, err := client.New(config, client.Options{})
	must(err)
	object := &core.Secret{ObjectMeta: meta.ObjectMeta{Name: "runtime", Namespace: "default"}, StringData: map[string]string{"a": "b"}}
	must(writer.Create(ctx, object))
	must(writer.Create(ctx, backend("runtime")))
	read := &core.Secret{}
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(backend("").GroupVersionKind())
	key := client.ObjectKey{Namespace: "default", Name: "runtime"}
	say("runtime secret", "%t", eventually(func() bool {
		return cached.Get(ctx, key, read) == nil && string(read.Data["a"]) == "b"
	}))
	say("runtime unstructured", "%t", eventually(func() bool { return cached.Get(ctx, key, found) == nil }))
	must(writer.Patch(ctx, found, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`))))
	say("runtime patch", "%t", eventually(func() bool {
		return cached.Get(ctx, key, found) == nil && found.GetLabels()["a"] == "b"
	}))
	must(writer.Delete(ctx, object))
	must(writer.Delete(ctx, found))
	say("runtime delete", "%t", eventually(func() bool {
		return apierrors.IsNotFound(cached.Get(ctx, key, read)) && apierrors.IsNotFound(cached.Get(ctx, key, found))
	}))
}

func eventually(holds func() bool) bool {
	for attempt := 0; attempt < 200; attempt++ {
		if holds() {
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}
