import { createHash } from 'node:crypto'
import { collectionOf, groupVersion } from '../kinds/collection.ts'
import type { ServedKind } from '../kinds/served-kind.ts'
import { verbsOf } from '../kinds/verbs-of.ts'
import { compareVersions } from '../kinds/version-order.ts'

/** One group, with its kinds by version, preferred version first. */
export interface DiscoveredGroup {
  readonly group: string
  readonly versions: readonly (readonly [version: string, kinds: readonly ServedKind[]])[]
}

const PART_VERBS = ['get', 'patch', 'update']

/** The kinds as discovery shows them: groups in the order in which they were added, the core group first. */
export function discoveredGroups(kinds: readonly ServedKind[]): readonly DiscoveredGroup[] {
  const groups = Map.groupBy(kinds, ({ group }) => group)
  return [...groups]
    .sort(([a], [b]) => Number(b === '') - Number(a === ''))
    .map(([group, members]) => ({
      group,
      versions: [...Map.groupBy(members, ({ version }) => version)].sort(([a], [b]) => compareVersions(a, b)),
    }))
}

/** The body of `/api`. */
export function coreVersions(groups: readonly DiscoveredGroup[]): object {
  const versions = groups.find(({ group }) => group === '')?.versions.map(([version]) => version) ?? []
  return { kind: 'APIVersions', versions, serverAddressByClientCIDRs: [] }
}

/** The body of `/apis`. */
export function groupList(groups: readonly DiscoveredGroup[]): object {
  const named = groups.filter(({ group }) => group !== '')
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(describeGroup) }
}

/** The body of `/apis/<group>`. */
export function groupDocument(group: DiscoveredGroup): object {
  return { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group) }
}

function describeGroup({ group, versions }: DiscoveredGroup) {
  const described = versions.map(([version]) => ({ groupVersion: groupVersion({ group, version }), version }))
  return { name: group, versions: described, preferredVersion: described[0] }
}

/** The body of `/api/v1` and `/apis/<group>/<version>`. */
export function resourceList(group: string, version: string, kinds: readonly ServedKind[]): object {
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: groupVersion({ group, version }),
    resources: kinds.flatMap(describeResource),
  }
}

function describeResource(kind: ServedKind): readonly object[] {
  const { plural, singular, namespaced, kind: name, shortNames, categories } = kind
  const common = { namespaced, kind: name }
  return [
    {
      name: plural,
      singularName: singular,
      ...common,
      verbs: verbsOf(kind),
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
      storageVersionHash: hashOf(kind),
    },
    ...partsOf(kind).map(({ part, identity }) => ({
      name: `${plural}/${part}`,
      singularName: '',
      ...identity,
      ...common,
      kind: identity?.kind ?? name,
      verbs: PART_VERBS,
    })),
  ]
}

/** The body of `/api` and `/apis` for clients that read everything at once (apidiscovery.k8s.io). */
export function aggregatedDiscovery(
  groups: readonly DiscoveredGroup[],
  version: 'v2' | 'v2beta1',
  isCore: boolean,
): object {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups
      .filter(({ group }) => (group === '') === isCore)
      .map(({ group, versions }) => ({
        metadata: { name: group },
        versions: versions.map(([name, kinds]) => ({
          version: name,
          resources: kinds.map(aggregatedResource),
          freshness: 'Current',
        })),
      })),
  }
}

function aggregatedResource(kind: ServedKind): object {
  const { group, version, plural, singular, namespaced, kind: name, shortNames, categories } = kind
  const responseKind = { group, version, kind: name }
  const parts = partsOf(kind)
  return {
    resource: plural,
    responseKind,
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: verbsOf(kind),
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(parts.length > 0
      ? {
          subresources: parts.map(({ part, identity }) => ({
            subresource: part,
            responseKind: identity ?? responseKind,
            verbs: PART_VERBS,
          })),
        }
      : {}),
  }
}

const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

function partsOf({
  hasStatus,
  scale,
}: ServedKind): readonly { readonly part: string; readonly identity?: typeof SCALE }[] {
  return [
    ...(hasStatus ? [{ part: 'status' }] : []),
    ...(scale === undefined ? [] : [{ part: 'scale', identity: SCALE }]),
  ]
}

/** Tells clients when objects of a kind are stored in another form. */
function hashOf({ storageVersion, kind, ...rest }: ServedKind): string {
  const text = `${collectionOf(rest)}/${storageVersion}/${kind}`
  return createHash('sha256').update(text).digest().subarray(0, 8).toString('base64')
}
