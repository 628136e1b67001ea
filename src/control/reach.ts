import type { Work } from '#base/incremental/stage.ts'
import type { Tables } from './tables.ts'
import { isServicePort, serviceOf } from './use.ts'

/** All targets around a target, itself not included: their policies apply to it too, with less strength. */
export function targetsAround(tables: Tables, work: Work, target: string): ReadonlySet<string> {
  const found = closure(target, (from) => outerOf(tables, work, from))
  found.delete(target)
  return found
}

/** The Gateways of ours, by target and sorted, whose traffic comes to a target; also as a service that some policy calls. */
export function gatewaysAround(tables: Tables, work: Work, target: string): readonly string[] {
  const { gateways, callers } = tables
  const found = closure(target, (from) => [...outerOf(tables, work, from), ...work.read(callers, from)])
  return [...found].filter((key) => key.startsWith('Gateway/') && work.read(gateways, key).length > 0).sort()
}

/** The direct predecessors of a target: the target that contains it, and those that send traffic to it. */
function outerOf({ outer, users }: Tables, work: Work, target: string): readonly string[] {
  const whole = isServicePort(target) ? [serviceOf(target)] : []
  return [...work.read(outer, target), ...work.read(users, target), ...whole]
}

/** Everything that can be got to from a target, itself included. */
function closure(start: string, outer: (target: string) => readonly string[]): Set<string> {
  const found = new Set([start])
  for (const target of found) for (const next of outer(target)) found.add(next)
  return found
}
