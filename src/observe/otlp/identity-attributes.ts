import type { Json } from '#base/json.ts'

/** The attributes of the resource that every export has. */
export function identityAttributes(
  version: string,
  { podName, namespace }: { readonly podName: string | undefined; readonly namespace: string | undefined },
): readonly (readonly [name: string, value: Json])[] {
  return [
    ['service.name', 'gatewright'],
    ['service.version', version],
    ...(podName ? [['k8s.pod.name', podName] as const] : []),
    ...(namespace ? [['k8s.namespace.name', namespace] as const] : []),
  ]
}
