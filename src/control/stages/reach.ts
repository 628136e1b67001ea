import type { Work } from '#base/incremental/stage.ts'
import { routeOfRule } from '#plan/target.ts'
import { isServicePort, serviceOf } from '../context/use.ts'
import type { Tables } from './tables.ts'

/** All targets that contain a target, directly or indirectly. Their policies apply to it too, with lower precedence. */
export function enclosingTargets(tables: Tables, work: Work, target: string): ReadonlySet<string> {
  const found = closure(target, (from) => predecessorsOf(tables, work, from))
  found.delete(target)
  return found
}

/** The Gateways of this controller, by target and sorted, whose traffic reaches a target, also through calls of policies. */
export function gatewaysReaching(tables: Tables, work: Work, target: string): readonly string[] {
  const { gateways, callers } = tables
  const found = closure(target, (from) => [...predecessorsOf(tables, work, from), ...work.read(callers, from)])
  return [...found].filter((key) => key.startsWith('Gateway/') && work.read(gateways, key).length > 0).sort()
}

/** The direct predecessors of a target: the targets that contain it, and those that send traffic to it. */
function predecessorsOf({ enclosing, users }: Tables, work: Work, target: string): readonly string[] {
  const whole = isServicePort(target) ? serviceOf(target) : routeOfRule(target)
  return [...work.read(enclosing, target), ...work.read(users, target), ...(whole === undefined ? [] : [whole])]
}

/** Everything reachable from a target, including itself. */
function closure(start: string, nextOf: (target: string) => readonly string[]): Set<string> {
  const found = new Set([start])
  for (const target of found) for (const next of nextOf(target)) found.add(next)
  return found
}
