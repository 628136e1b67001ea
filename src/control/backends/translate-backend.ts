import { keyOf } from '#api/object.ts'
import type { Destination, ProxyBackendObject, ProxyBackendSpec } from '#api/proxy-backend.ts'
import type { BackendItem, ResolvedMcpTarget } from '#plan/item.ts'
import { backendTarget } from '#plan/target.ts'
import { fieldPath, itemPath } from '#schema/index.ts'
import { type Attachment, fieldsOf, type PolicyField } from '../policies/policy-item.ts'
import { joinFields, type TranslatedFields, translateField } from '../policies/translate-policy.ts'
import type { Report } from '../reporting.ts'
import type { TranslationContext } from '../translation-context.ts'
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
  readonly place: Attachment
}

/** The type of a ProxyBackend, and the member of that name as the plan stores it. */
type Destined = { [Type in Destination]: Pick<BackendItem<Type>, 'type' | 'spec'> }[Destination]

interface Sectioned {
  readonly destination: Destined
  readonly sections: readonly string[]
  readonly policies?: readonly InlineField[]
  readonly uses?: readonly Use[]
  readonly broken?: string
}

/** A fault in the policies of the whole backend breaks it; one in those of a provider or target breaks only that (decision A-37). */
export function translateBackend(
  context: TranslationContext,
  object: ProxyBackendObject,
  report: Report,
): TranslatedBackend {
  const { spec, metadata, origin } = object
  const target = backendTarget('ProxyBackend', metadata)
  const { destination, sections, policies = [], uses = [], ...resolved } = resolveDestination(context, object, report)
  const level = 'BackendInline'
  const own = fieldsOf(object, 'backend', spec.policies ?? {}, 'spec.policies').map((field) =>
    translateField(context, field, [{ target, level }], report),
  )
  const ofSections = policies.map(({ field, place }) => translateField(context, field, [place], report))
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
      ...destination,
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
function resolveDestination(context: TranslationContext, object: ProxyBackendObject, report: Report): Sectioned {
  const { ai, mcp, a2a, aws, dynamicForwardProxy, static: fixed } = object.spec
  if (ai !== undefined) return resolveProviders(object, ai)
  if (mcp !== undefined) return resolveTargets(context, object, mcp, report)
  if (a2a !== undefined) return { destination: { type: 'a2a', spec: a2a }, sections: [] }
  if (aws !== undefined) return { destination: { type: 'aws', spec: aws }, sections: [] }
  if (fixed !== undefined) return { destination: { type: 'static', spec: fixed }, sections: [] }
  return { destination: { type: 'dynamicForwardProxy', spec: dynamicForwardProxy }, sections: [] }
}

function resolveProviders(object: ProxyBackendObject, ai: NonNullable<ProxyBackendSpec['ai']>): Sectioned {
  if (ai.groups === undefined) return { destination: { type: 'ai', spec: ai }, sections: ['backend'] }
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
  return { destination: { type: 'ai', spec: { groups } }, sections, policies }
}

function resolveTargets(
  context: TranslationContext,
  object: ProxyBackendObject,
  { targets: entries, sessionRouting, failureMode }: NonNullable<ProxyBackendSpec['mcp']>,
  report: Report,
): Sectioned {
  const targets = resolveMcpTargets(context, object, report)
  const spec = { targets, sessionRouting, ...(failureMode === undefined ? {} : { failureMode }) }
  const broken = failureMode === 'FailOpen' ? undefined : brokenTargets(targets)
  return {
    destination: { type: 'mcp', spec },
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
