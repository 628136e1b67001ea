import type { Manifest } from '#deploy/manifest.ts'

interface DeployedKind {
  /** The path of the API up to the namespace. */
  readonly root: string
  readonly plural: string
  /** Parameters may no longer want such an object, which is deleted then. All others go with their Gateway. */
  readonly isPruned: boolean
}

/** The kinds of objects that run proxies. */
export const DEPLOYED_KINDS: Readonly<Record<string, DeployedKind>> = {
  ServiceAccount: { root: '/api/v1', plural: 'serviceaccounts', isPruned: false },
  ConfigMap: { root: '/api/v1', plural: 'configmaps', isPruned: false },
  Secret: { root: '/api/v1', plural: 'secrets', isPruned: false },
  Service: { root: '/api/v1', plural: 'services', isPruned: false },
  Deployment: { root: '/apis/apps/v1', plural: 'deployments', isPruned: false },
  PodDisruptionBudget: { root: '/apis/policy/v1', plural: 'poddisruptionbudgets', isPruned: true },
  HorizontalPodAutoscaler: { root: '/apis/autoscaling/v2', plural: 'horizontalpodautoscalers', isPruned: true },
}

export function listPath({ root, plural }: DeployedKind, namespace: string): string {
  return `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`
}

export function nameOf({ metadata }: Manifest): string {
  return `${metadata.name}`
}

/** @throws if nothing deploys objects of this kind */
export function manifestPath(manifest: Manifest): { readonly list: string; readonly object: string } {
  const kind = DEPLOYED_KINDS[manifest.kind]
  if (kind === undefined) throw new Error(`a ${manifest.kind} cannot be deployed`)
  const list = listPath(kind, `${manifest.metadata.namespace}`)
  return { list, object: `${list}/${encodeURIComponent(nameOf(manifest))}` }
}
