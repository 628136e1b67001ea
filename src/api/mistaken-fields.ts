import { findMistaken } from '#schema/index.ts'
import { GATEWAY_GROUP } from './groups.ts'
import type { KindInfo } from './kinds.ts'

/** The fields of an object that are certainly mistakes. */
export interface MistakenFields {
  readonly paths: readonly string[]
  /** The object with the names that are meant. */
  readonly meant: unknown
}

/**
 * Finds the fields of an object of the Gateway API that are certainly mistakes. The object is used without unknown fields, and without these it may
 * serve more than it should (decision A-07).
 * @returns undefined: there are none, or the object is of another group
 */
export function findMistakenFields(
  { group, schema }: Pick<KindInfo, 'group' | 'schema'>,
  written: unknown,
): MistakenFields | undefined {
  if (group !== GATEWAY_GROUP) return undefined
  const { misspelt, foreign, meant } = findMistaken(schema, written)
  const paths = [...misspelt.filter((path) => !OF_OTHERS.test(path)), ...foreign.filter((path) => CONDITION.test(path))]
  return paths.length === 0 ? undefined : { paths, meant }
}

/** A rule without one of its conditions applies to more. */
const CONDITION = /\.matches\[/

/** Parts of an object that have no effect on what it serves. */
const OF_OTHERS = /^(?:metadata|status)\b/
