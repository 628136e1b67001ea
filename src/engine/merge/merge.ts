import type { PolicySection } from '#api/policy-fields.ts'
import { LEVEL, type Phase, type PolicyItem } from '#plan/item.ts'
import type { PolicyDefinition, PolicySource, SettingDefinition } from '#policies/policy.ts'
import type { Lookups } from '../lookups/lookups.ts'

/** One field of a section after merging: the policies that set it, and those that were overridden. */
export interface MergedField {
  readonly field: string
  /** Highest precedence first. With merge rule `replace`, only the first one counts. */
  readonly sources: readonly PolicyItem[]
  /** Overridden policies, highest precedence first; empty for accumulating fields. */
  readonly overridden: readonly PolicyItem[]
}

export interface MergeRequest {
  readonly section: PolicySection
  /** Section `traffic` only; the phases never merge with each other (specification 2, 2.2). */
  readonly phase: Phase | undefined
  /** All targets that apply. */
  readonly targets: readonly string[]
  readonly accumulates: (field: string) => boolean
}

/**
 * Merges policies field by field of the section, never deeper (specification 1, 2.6): the highest level takes precedence; within a level
 * the older object, then namespace/name. Rule sets accumulate from every level (decision A-21).
 */
export function mergePolicies(lookups: Lookups, request: MergeRequest): ReadonlyMap<string, MergedField> {
  const byField = new Map<string, PolicyItem[]>()
  for (const target of request.targets) {
    for (const item of lookups.policiesAt(target)) {
      if (item.section !== request.section || item.phase !== request.phase) continue
      const list = byField.get(item.field)
      if (list === undefined) byField.set(item.field, [item])
      else list.push(item)
    }
  }
  const merged = new Map<string, MergedField>()
  for (const [field, items] of byField) {
    const ordered = items.toSorted((a, b) => LEVEL[b.level] - LEVEL[a.level])
    // A policy that applies by two targets counts once, at its higher level (decision A-23).
    const sources = ordered.filter((item, i) => ordered.findIndex((other) => isSameSource(other, item)) === i)
    merged.set(
      field,
      request.accumulates(field)
        ? { field, sources, overridden: [] }
        : { field, sources: sources.slice(0, 1), overridden: sources.slice(1) },
    )
  }
  return merged
}

function isSameSource(a: PolicyItem, b: PolicyItem): boolean {
  return (
    a.path === b.path &&
    a.origin.kind === b.origin.kind &&
    a.origin.namespace === b.origin.namespace &&
    a.origin.name === b.origin.name
  )
}

/** The effective sources of a field, highest precedence first. */
export function sourcesOf<Spec>(
  definition: FieldWith<Spec>,
  fields: ReadonlyMap<string, MergedField>,
): readonly PolicySource<Spec>[] {
  return (fields.get(definition.field)?.sources ?? []).filter((item) => isSourceOf(definition, item))
}

/** The effective sources, followed by the overridden ones. */
export function allSourcesOf<Spec>(
  definition: FieldWith<Spec>,
  fields: ReadonlyMap<string, MergedField>,
): readonly PolicySource<Spec>[] {
  const merged = fields.get(definition.field)
  return merged === undefined
    ? []
    : [...merged.sources, ...merged.overridden].filter((item) => isSourceOf(definition, item))
}

type FieldWith<Spec> = PolicyDefinition<Spec> | SettingDefinition<Spec>

/** Narrows a policy item to the spec type of its field definition; the schema has validated it. */
export function isSourceOf<Spec>(
  { section, field }: FieldWith<Spec>,
  item: PolicyItem,
): item is PolicyItem & PolicySource<Spec> {
  return item.section === section && item.field === field
}
