import type { Phase, PolicyItem, PolicySection } from '#plan/item.ts'
import { policyDefinition } from '#policies/index.ts'
import { RESPONSE } from '#policies/order.ts'
import type { CompileContext, PolicySource, SettingDefinition } from '#policies/policy.ts'
import { buildChain, type Chain, type ChainLink } from './chain.ts'
import type { PlanCompileContext } from './compile-context.ts'
import type { Lookups } from './lookups.ts'
import { type MergedField, mergePolicies } from './merge.ts'

/** Where a chain stands and what may stand in it. */
export interface ChainPlan {
  readonly stage: Chain['stage']
  readonly section: PolicySection
  readonly phase: Phase | undefined
  readonly order: readonly string[]
  readonly targets: readonly string[]
}

/** Merges what is attached to the targets and compiles it, in order. */
export function buildChainFor(plan: ChainPlan, lookups: Lookups, context: PlanCompileContext): Chain {
  const readersBefore = context.readers.length
  const merged = mergeSection(plan, lookups)
  const links: ChainLink[] = []
  for (const field of plan.order) {
    const entry = merged.get(field)
    const run = entry === undefined ? undefined : compileMerged(plan.section, entry, context)
    if (entry !== undefined && run !== undefined) links.push({ merged: entry, run })
  }
  return buildChain(plan.stage, links, RESPONSE, context.readers.slice(readersBefore))
}

export function mergeSection(
  plan: Pick<ChainPlan, 'section' | 'phase' | 'targets'>,
  lookups: Lookups,
): ReadonlyMap<string, MergedField> {
  return mergePolicies(lookups, {
    section: plan.section,
    phase: plan.phase,
    targets: plan.targets,
    accumulates: (field) => policyDefinition(plan.section, field)?.merge === 'accumulate',
  })
}

function compileMerged(section: PolicySection, merged: MergedField, context: CompileContext) {
  const definition = policyDefinition(section, merged.field)
  if (definition?.kind !== 'steps') return undefined
  return definition.compile(merged.sources.map(toSource), context)
}

/** A policy item as the `compile` of its field sees it. */
export function toSource(item: PolicyItem): PolicySource<never> {
  return { spec: item.spec as never, origin: item.origin, path: item.path, target: item.target }
}

/** Compiles a setting from what was merged for it; without a source it yields its defaults. */
export function compileSetting<Spec, Setting>(
  definition: SettingDefinition<Spec, Setting>,
  fields: ReadonlyMap<string, MergedField>,
  context: CompileContext,
): Setting {
  const sources = fields.get(definition.field)?.sources ?? []
  return definition.compile(sources.map(toSource) as readonly PolicySource<Spec>[], context)
}
