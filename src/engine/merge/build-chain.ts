import type { PolicySection } from '#api/policy-fields.ts'
import { policyDefinition } from '#api/policy-fields.ts'
import { RESPONSE } from '#api/policy-order.ts'
import type { Phase } from '#plan/item.ts'
import type { CompileContext, SettingDefinition } from '#policies/policy.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { buildChain, type Chain, type ChainLink } from './chain.ts'
import type { PlanCompileContext } from './compile-context.ts'
import { type MergedField, mergePolicies, sourcesOf } from './merge.ts'

/** The stage of a chain and the fields it may contain. */
export interface ChainPlan {
  readonly stage: Chain['stage']
  readonly section: PolicySection
  readonly phase: Phase | undefined
  readonly order: readonly string[]
  readonly targets: readonly string[]
  /** Fields that apply although no policy sets them. */
  readonly implied?: readonly MergedField[]
}

/** Merges the policies of the targets, and compiles them in execution order. */
export function buildChainFor(plan: ChainPlan, lookups: Lookups, context: PlanCompileContext): Chain {
  const readersBefore = context.readers.length
  const set = mergeSection(plan, lookups)
  const merged = plan.implied === undefined ? set : withImplied(set, plan.implied)
  const links: ChainLink[] = []
  for (const field of plan.order) {
    const definition = policyDefinition(plan.section, field)
    const entry = merged.get(field)
    if (entry === undefined || definition?.kind !== 'steps') continue
    const run = definition.compile(sourcesOf(definition, merged), context)
    if (run !== undefined) links.push({ merged: entry, run })
  }
  return buildChain(plan.stage, links, RESPONSE, context.readers.slice(readersBefore))
}

function withImplied(
  set: ReadonlyMap<string, MergedField>,
  implied: readonly MergedField[],
): ReadonlyMap<string, MergedField> {
  return new Map([...implied.map((merged) => [merged.field, merged] as const), ...set])
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

/** Compiles a setting from its merged sources; without a source it has its defaults. */
export function compileSetting<Spec, Setting>(
  definition: SettingDefinition<Spec, Setting>,
  fields: ReadonlyMap<string, MergedField>,
  context: CompileContext,
): Setting {
  return definition.compile(sourcesOf(definition, fields), context)
}
