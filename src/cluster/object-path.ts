import { apiVersionOf, findKind, type KindInfo } from '#api/kinds.ts'

const SECRET = findKind('Secret')!

/** Identifies an object; the namespace of objects without one is ''. */
export interface ObjectName {
  readonly namespace: string
  readonly name: string
}

/** The path of the objects of a kind in a Kubernetes API. @param namespace undefined: of all namespaces */
export function listPath(info: KindInfo, version: string, namespace: string | undefined): string {
  const root = `${info.group === '' ? '/api' : '/apis'}/${apiVersionOf(info, version)}`
  const scope = info.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${root}${scope}/${info.plural}`
}

/** The path of an object in a Kubernetes API. @param version one that the API serves */
export function objectPath(info: KindInfo, version: string, { namespace, name }: ObjectName): string {
  return `${listPath(info, version, namespace)}/${encodeURIComponent(name)}`
}

/** @param key `objectKey` of a Secret */
export function secretPath(key: string): string {
  const [, namespace = '', name = ''] = key.split('/')
  return objectPath(SECRET, 'v1', { namespace, name })
}
