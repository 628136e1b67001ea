import { keyOf } from '#api/object.ts'
import { type Destination, destinationOf, type ProxyBackendObject } from '#api/proxy-backend.ts'
import type { BackendItem } from '#plan/item.ts'
import type { ResolvedMcpBackend, ResolvedMcpTarget } from '#plan/mcp-targets.ts'
import { backendTarget } from '#plan/target.ts'
import { fieldPath, itemPath } from '#schema/index.ts'
import type { Report } from '../finding-code.ts'
import { fieldsOf, type Place, type PolicyField } from '../policies/policy-item.ts'
import { joinFields, type TranslatedFields, translateField } from '../policies/translate-policy.ts'
import type { Scope } from '../scope.ts'
import type { Use } from '../use.ts'
import { backendBounds } from './backend-bounds.ts'
import { resolveMcpTargets } from './resolve-mcp-targets.ts'

/** What a ProxyBackend became. */
export interface TranslatedBackend {
  readonly object: ProxyBackendObject
  readonly item: BackendItem
  /** Names that a `sectionName` can have. */
  readonly sections: readonly string[]
  /** Policies written in the backend itself. */
  readonly fields: TranslatedFields
  /** Services that it sends to. */
  readonly uses: readonly Use[]
}

interface InlineField {
  readonly field: PolicyField
  readonly place: Place
}

interface Sectioned {
  readonly spec: unknown
  readonly sections: readonly string[]
  readonly policies?: readonly InlineField[]
  readonly uses?: readonly Use[]
  readonly broken?: string
}

/** A fault in the policies of the whole backend breaks it; one in those of a provider or target breaks only that (decision A-37). */
export function translateBackend(scope: Scope, object: ProxyBackendObject, report: Report): TranslatedBackend {
  const { spec, metadata, origin } = object
  const type = destinationOf(object)
  const target = backendTarget('ProxyBackend', metadata)
  const { sections, policies = [], uses = [], ...resolved } = resolveDestination(scope, object, type, report)
  const level = 'BackendInline'
  const own = fieldsOf(object, 'backend', spec.policies ?? {}, 'spec.policies').map((field) =>
    translateField(scope, field, [{ target, level }], report),
  )
  const ofSections = policies.map(({ field, place }) => translateField(scope, field, [place], report))
  const faults = own.flatMap((field) => field.faults)
  const bounds = backendBounds(metadata, report)
  const broken = [...(resolved.broken === undefined ? [] : [resolved.broken]), ...faults]
  return {
    object,
    item: {
      kind: 'backend',
      key: keyOf(object),
      namespace: metadata.namespace,
      name: metadata.name,
      type,
      spec: resolved.spec,
      ...(bounds === undefined ? {} : { bounds }),
      broken: broken.length === 0 ? undefined : broken.join('; '),
      origin,
    },
    sections,
    fields: joinFields([...own, ...ofSections]),
    uses,
  }
}

/** Policies inside the destination are taken out: they are items of their own. */
function resolveDestination(scope: Scope, object: ProxyBackendObject, type: Destination, report: Report): Sectioned {
  switch (type) {
    case 'ai':
      return resolveProviders(object)
    case 'mcp':
      return resolveTargets(scope, object, report)
    default:
      return { spec: object.spec[type], sections: [] }
  }
}

function resolveProviders(object: ProxyBackendObject): Sectioned {
  const { ai } = object.spec
  if (ai?.groups === undefined) return { spec: ai, sections: ['backend'] }
  const sections: string[] = []
  const policies: InlineField[] = []
  const groups = ai.groups.map(({ providers }, g) => ({
    providers: providers.map(({ policies: inline = {}, ...provider }, p) => {
      sections.push(provider.name)
      const path = itemPath(`${itemPath('spec.ai.groups', g)}.providers`, p)
      policies.push(...sectionPolicies(object, provider.name, inline, path))
      return provider
    }),
  }))
  return { spec: { groups }, sections, policies }
}

function resolveTargets(scope: Scope, object: ProxyBackendObject, report: Report): Sectioned {
  const { targets: entries = [], sessionRouting = 'Stateful', failureMode } = object.spec.mcp ?? {}
  const targets = resolveMcpTargets(scope, object, report)
  const spec: ResolvedMcpBackend = { targets, sessionRouting, ...(failureMode === undefined ? {} : { failureMode }) }
  const broken = failureMode === 'FailOpen' ? undefined : brokenTargets(targets)
  return {
    spec,
    sections: [...new Set([...entries.map(({ name }) => name), ...targets.map(({ name }) => name)])],
    policies: entries.flatMap(({ name, static: target }, index) =>
      sectionPolicies(object, name, target?.policies ?? {}, `${itemPath('spec.mcp.targets', index)}.static`),
    ),
    uses: targets.flatMap(({ backend }) => (backend === undefined ? [] : [{ from: keyOf(object), to: backend }])),
    ...(broken === undefined ? {} : { broken }),
  }
}

/** With FailClosed one unusable target makes the whole backend unusable. */
function brokenTargets(targets: readonly ResolvedMcpTarget[]): string | undefined {
  const broken = targets.flatMap(({ name, broken: why }) => (why === undefined ? [] : [`target ${name}: ${why}`]))
  return broken.length === 0 ? undefined : broken.join('; ')
}

function sectionPolicies(object: ProxyBackendObject, section: string, inline: object, path: string) {
  const target = backendTarget('ProxyBackend', object.metadata, section)
  return fieldsOf(object, 'backend', { ...inline }, fieldPath(path, 'policies')).map((field) => ({
    field,
    place: { target, level: 'SectionInline' } as const,
  }))
}
