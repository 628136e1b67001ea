import { createHash } from 'node:crypto'
import type { ResourceKey } from '#store/resources/resource.ts'
import type { ResourceTable } from '#store/resources/resource-table.ts'

/** One commit. */
export interface Intent {
  /** Only a revision is taken; nothing is stored. */
  readonly inMemory: boolean
  /** Undefined length: the object is removed. */
  readonly changes: readonly { readonly name: string; readonly length: number | undefined; readonly seed: number }[]
}

/** The objects in the database by name, each as the hash of its text. */
export type State = Readonly<Record<string, string>>

export function keyOf(name: string): ResourceKey {
  return { collection: 'configmaps', namespace: 'default', name }
}

/** Random whole numbers below a bound, the same for the same seed. */
export function draw(seed: number): (bound: number) => number {
  let state = (seed * 2_654_435_761 + 12_345) >>> 0
  return (bound) => {
    // The linear congruential generator of "Numerical Recipes"; its high bits are the random ones.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

export function textOf(seed: number, length: number): string {
  const part = createHash('sha256').update(`${seed}`).digest('base64')
  return part.repeat(Math.ceil(length / part.length)).slice(0, length)
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64').slice(0, 16)
}

export function readState(table: ResourceTable): State {
  return Object.fromEntries(
    table
      .list('configmaps')
      .map(({ metadata, data }) => [metadata.name, hashOf((data as { readonly text: string }).text)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}

/** The state after a commit. */
export function applied(state: State, { inMemory, changes }: Intent): State {
  if (inMemory) return state
  const next = new Map(Object.entries(state))
  for (const { name, length, seed } of changes) {
    if (length === undefined) next.delete(name)
    else next.set(name, hashOf(textOf(seed, length)))
  }
  return Object.fromEntries([...next].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
