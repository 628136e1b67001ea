import { keyOf } from '#api/object.ts'
import type { Destination, ProxyBackendObject, ProxyBackendSpec } from '#api/proxy-backend.ts'
import type { BackendItem, ResolvedMcpTarget } from '#plan/item.ts'
import { backendTarget } from '#plan/target.ts'
import { fieldPath, itemPath } from '#schema/index.ts'
import { fieldsOf, type PolicyAttachment, type PolicyField } from '../context/policy-item.ts'
import type { Report } from '../context/reporting.ts'
import type { TranslationContext } from '../context/translation-context.ts'
import type { Use } from '../context/use.ts'
import { joinFields, type TranslatedFields, translateField } from '../policies/translate-policy.ts'
import { backendBounds } from './backend-bounds.ts'
import { resolveMcpTargets } from './resolve-mcp-targets.ts'
import { toolPinning } from './tool-pinning.ts'

/** The result of translating a ProxyBackend. */
export interface TranslatedBackend {
  readonly object: ProxyBackendObject
  readonly item: BackendItem
  /** Valid values of `sectionName`. */
  readonly sections: readonly string[]
  /** Inline policies. */
  readonly fields: TranslatedFields
  /** Services that it sends requests to. */
  readonly uses: readonly Use[]
}

interface InlineField {
  readonly field: PolicyField
  readonly attachment: PolicyAttachment
}

/** The type of a ProxyBackend and the settings of that type, as the plan stores them. */
type PlanDestination = { [Type in Destination]: Pick<BackendItem<Type>, 'type' | 'spec'> }[Destination]

interface ResolvedDestination {
  readonly destination: PlanDestination
  readonly sections: readonly string[]
  readonly policies?: readonly InlineField[]
  readonly uses?: readonly Use[]
  readonly broken?: string
  /** One unusable section makes the whole backend unusable. */
  readonly needsAllSections?: boolean
}

/**
 * Translates a ProxyBackend. A broken reference in its own policies makes the whole backend unusable; one in the policies of a provider or
 * target affects only that provider or target, unless `failureMode` FailClosed requires all targets (decision A-37).
 */
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
  const ofSections = policies.map(({ field, attachment }) => translateField(context, field, [attachment], report))
  const faults = own.flatMap((field) => field.faults)
  const bounds = backendBounds(metadata, report)
  const ofNeeded = resolved.needsAllSections === true ? ofSections.flatMap((field) => field.faults) : []
  const broken = [resolved.broken, ...ofNeeded, ...faults].filter((fault) => fault !== undefined)
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

/** Policies inside the destination become separate items. */
function resolveDestination(
  context: TranslationContext,
  object: ProxyBackendObject,
  report: Report,
): ResolvedDestination {
  const { ai, mcp, a2a, aws, dynamicForwardProxy, static: fixed } = object.spec
  if (ai !== undefined) return resolveProviders(object, ai)
  if (mcp !== undefined) return resolveTargets(context, object, mcp, report)
  toolPinning(object.metadata, false, report)
  if (a2a !== undefined) return { destination: { type: 'a2a', spec: a2a }, sections: [] }
  if (aws !== undefined) return { destination: { type: 'aws', spec: aws }, sections: [] }
  if (fixed !== undefined) return { destination: { type: 'static', spec: fixed }, sections: [] }
  return { destination: { type: 'dynamicForwardProxy', spec: dynamicForwardProxy }, sections: [] }
}

function resolveProviders(object: ProxyBackendObject, ai: NonNullable<ProxyBackendSpec['ai']>): ResolvedDestination {
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
): ResolvedDestination {
  const targets = resolveMcpTargets(context, object, report)
  const pinning = toolPinning(object.metadata, true, report)
  const spec = {
    targets,
    sessionRouting,
    ...(failureMode === undefined ? {} : { failureMode }),
    ...(pinning === undefined ? {} : { toolPinning: pinning }),
  }
  const needsAllSections = failureMode !== 'FailOpen'
  const broken = needsAllSections ? brokenTargets(targets) : undefined
  return {
    needsAllSections,
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
    attachment: { target, level: 'SectionInline' } as const,
  }))
}
