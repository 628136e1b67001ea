import { groupVersion } from '../kinds/collection.ts'
import type { ServedKind } from '../kinds/served-kind.ts'

/** The package of the schemas that all kinds share. */
export const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** The name of the schema of a kind, unique in all documents: `dev.gatewright.v1alpha1.ProxyBackend`, `io.k8s.api.core.v1.Service`. */
export function definitionName({ group, version, kind }: Pick<ServedKind, 'group' | 'version' | 'kind'>): string {
  return `${packageOf(group)}.${version}.${kind}`
}

/** The platform's own groups are in one package; the name of any other group is reversed. */
function packageOf(group: string): string {
  if (group === '') return 'io.k8s.api.core'
  const [first, ...rest] = group.split('.')
  const isPlatform = rest.join('.') === 'k8s.io' && PLATFORM_GROUPS.includes(first!)
  return isPlatform ? `io.k8s.api.${first}` : group.split('.').toReversed().join('.')
}

const PLATFORM_GROUPS: readonly string[] = ['authentication', 'authorization', 'coordination', 'discovery', 'events']

/** The path below which a version is served: `api/v1`, `apis/gatewright.dev/v1alpha1`. */
export function rootOf(kind: Pick<ServedKind, 'group' | 'version'>): string {
  return `${kind.group === '' ? 'api' : 'apis'}/${groupVersion(kind)}`
}
