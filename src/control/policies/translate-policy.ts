import type { PolicyItem } from '#plan/item.ts'
import { type ResolvedField, resolveField } from '../references/resolve-field.ts'
import type { Report } from '../reporting.ts'
import type { TranslationContext } from '../translation-context.ts'
import type { Use } from '../use.ts'
import type { AttachedPolicy } from './place-policy.ts'
import { type Attachment, fieldsOf, type PolicyField, policyItem } from './policy-item.ts'

/** What policy fields became at the places that they are attached to. */
export interface TranslatedFields {
  readonly items: readonly PolicyItem[]
  /** Backends that the fields call. */
  readonly calls: readonly Use[]
  /** Keys of Secrets and ConfigMaps that they read. */
  readonly material: readonly string[]
  /** What is wrong with their references, in words. */
  readonly faults: readonly string[]
}

const SECTIONS = ['frontend', 'traffic', 'backend'] as const

/** One item for each field and place. A policy that is attached nowhere is checked all the same. */
export function translatePolicy(
  context: TranslationContext,
  { object: policy, places }: AttachedPolicy,
  report: Report,
): TranslatedFields {
  const fields = SECTIONS.flatMap((section) => fieldsOf(policy, section, policy.spec[section] ?? {}, `spec.${section}`))
  return joinFields(fields.map((field) => translateField(context, field, places, report)))
}

/** A field at the places that it is attached to; its references are followed once. */
export function translateField(
  context: TranslationContext,
  field: PolicyField,
  places: readonly Attachment[],
  report: Report,
): TranslatedFields {
  const { backends, notPermitted, material, faults }: ResolvedField = resolveField(context, field, report)
  return {
    items: places.map((place) => policyItem(field, place, notPermitted)),
    calls: places.flatMap(({ target }) => backends.map((to) => ({ from: target, to }))),
    material: places.length === 0 ? [] : material,
    faults,
  }
}

export function joinFields(fields: readonly TranslatedFields[]): TranslatedFields {
  return {
    items: fields.flatMap(({ items }) => items),
    calls: fields.flatMap(({ calls }) => calls),
    material: fields.flatMap(({ material }) => material),
    faults: fields.flatMap(({ faults }) => faults),
  }
}
