"""Uses the API of a gateway through the official Python client. Prints one line per check: its name, and what was seen."""

import sys
import threading

from kubernetes import client, config, dynamic, watch

config.load_kube_config(sys.argv[1])
core = client.CoreV1Api()
custom = client.CustomObjectsApi()
GROUP = dict(group="gatewright.dev", version="v1alpha1", namespace="default", plural="proxybackends")


def say(name, seen):
    print(f"{name}\t{seen}", flush=True)


def backend(name):
    spec = {"static": {"host": "a.test", "port": 80}}
    return {
        "apiVersion": "gatewright.dev/v1alpha1",
        "kind": "ProxyBackend",
        "metadata": {"name": name},
        "spec": spec,
    }


body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="python"), data={"a": "1"})
say("create", core.create_namespaced_config_map("default", body).data["a"])
say("patch", core.patch_namespaced_config_map("python", "default", {"data": {"b": "2"}}).data["b"])
say("list", len(core.list_namespaced_config_map("default", field_selector="metadata.name=python").items))

version = custom.list_namespaced_custom_object(**GROUP)["metadata"]["resourceVersion"]
seen = []


def follow():
    for event in watch.Watch().stream(
        custom.list_namespaced_custom_object, **GROUP, resource_version=version, timeout_seconds=30
    ):
        # The gateway may write the status before the object is deleted.
        if event["type"] != "MODIFIED":
            seen.append(f"{event['type']} {event['object']['metadata']['name']}")
        if event["type"] == "DELETED":
            return


follower = threading.Thread(target=follow)
follower.start()
custom.create_namespaced_custom_object(**GROUP, body=backend("python"))
custom.delete_namespaced_custom_object(**GROUP, name="python")
follower.join()
say("watch", ", ".join(seen))

try:
    custom.create_namespaced_custom_object(**GROUP, body={**backend("broken"), "spec": {}})
except client.ApiException as error:
    say("invalid", f"{error.status} {error.reason}")

resources = dynamic.DynamicClient(client.ApiClient()).resources
kind = resources.get(api_version="gatewright.dev/v1alpha1", kind="ProxyBackend")
applied = kind.server_side_apply(backend("applied"), namespace="default", field_manager="python")
say("apply", applied.spec.static.host)
kind.delete("applied", namespace="default")
core.delete_namespaced_config_map("python", "default")
say("version", client.VersionApi().get_code().git_version.split("-")[0])
