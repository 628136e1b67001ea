import type { Work } from '#base/incremental/stage.ts'
import type { Tables } from './tables.ts'
import { isServicePort, serviceOf } from './use.ts'

/** All places around a place, itself not included: their policies apply to it too, with less strength. */
export function placesAround(tables: Tables, work: Work, place: string): ReadonlySet<string> {
  const found = closure(place, (from) => outerOf(tables, work, from))
  found.delete(place)
  return found
}

/** The Gateways of ours, by target and sorted, whose traffic comes to a place; also as a service that some policy calls. */
export function gatewaysAround(tables: Tables, work: Work, place: string): readonly string[] {
  const { gateways, callers } = tables
  const found = closure(place, (from) => [...outerOf(tables, work, from), ...work.read(callers, from)])
  return [...found].filter((key) => key.startsWith('Gateway/') && work.read(gateways, key).length > 0).sort()
}

/** The places directly around a place: what it is a part of, and who sends to it. */
function outerOf({ outer, users }: Tables, work: Work, place: string): readonly string[] {
  const whole = isServicePort(place) ? [serviceOf(place)] : []
  return [...work.read(outer, place), ...work.read(users, place), ...whole]
}

/** Everything that can be got to from a place, itself included. */
function closure(start: string, outer: (place: string) => readonly string[]): Set<string> {
  const found = new Set([start])
  for (const place of found) for (const next of outer(place)) found.add(next)
  return found
}
