import type { BackendItem, PolicyItem } from '#plan/item.ts'
import { backendTarget } from '#plan/target.ts'
import { fieldsOf, type PolicyAttachment, type PolicyField, policyItem } from '../context/policy-item.ts'
import type { Report } from '../context/reporting.ts'
import type { TranslationContext } from '../context/translation-context.ts'
import type { Use } from '../context/use.ts'
import { type ResolvedField, resolveField } from '../references/resolve-field.ts'
import type { AttachedPolicy } from './attach-policy.ts'
import { type OwnBackendItem, ownBackends } from './own-backends.ts'

/** The result of translating policy fields. */
export interface TranslatedFields {
  readonly items: readonly PolicyItem[]
  /** Backends that parts of the fields are by themselves. */
  readonly backends: readonly BackendItem[]
  /** Backends that the fields call. */
  readonly calls: readonly Use[]
  /** Keys of Secrets and ConfigMaps that they read. */
  readonly material: readonly string[]
  /** Error messages about their references. */
  readonly faults: readonly string[]
}

const SECTIONS = ['frontend', 'traffic', 'backend'] as const

/** Yields one item for each field and target. A policy without attachments is checked too. */
export function translatePolicy(
  context: TranslationContext,
  { object: policy, attachments }: AttachedPolicy,
  report: Report,
): TranslatedFields {
  const fields = SECTIONS.flatMap((section) => fieldsOf(policy, section, policy.spec[section] ?? {}, `spec.${section}`))
  return joinFields(fields.map((field) => translateField(context, field, attachments, report)))
}

/** Translates one field for all attachments of its policy; its references are resolved once. */
export function translateField(
  context: TranslationContext,
  field: PolicyField,
  attachments: readonly PolicyAttachment[],
  report: Report,
): TranslatedFields {
  const { backends, notPermitted, material, faults }: ResolvedField = resolveField(context, field, report)
  const own = attachments.length === 0 ? [] : ownBackends(field).map((each) => translateOwn(context, each))
  return joinFields([
    {
      items: attachments.map((attachment) => policyItem(field, attachment, { notPermitted })),
      backends: [],
      calls: attachments.flatMap(({ target }) => backends.map((to) => ({ from: target, to }))),
      material: attachments.length === 0 ? [] : material,
      faults,
    },
    ...own,
  ])
}

/** The policies of such a backend. Their references are also part of the field, which reports them. */
function translateOwn(context: TranslationContext, { item, policies }: OwnBackendItem): TranslatedFields {
  const target = backendTarget('ProxyBackend', item)
  const unreported: Report = () => {}
  const fields = policies.map((policy) =>
    translateField(context, policy, [{ target, level: 'BackendInline' }], unreported),
  )
  const { faults, ...joined } = joinFields(fields)
  const broken = faults.length === 0 ? undefined : faults.join('; ')
  return { ...joined, backends: [{ ...item, broken }], faults: [] }
}

export function joinFields(fields: readonly TranslatedFields[]): TranslatedFields {
  return {
    items: fields.flatMap(({ items }) => items),
    backends: fields.flatMap(({ backends }) => backends),
    calls: fields.flatMap(({ calls }) => calls),
    material: fields.flatMap(({ material }) => material),
    faults: fields.flatMap(({ faults }) => faults),
  }
}
