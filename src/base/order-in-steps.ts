import type { Pace, Steps } from './in-slices.ts'

interface Placed {
  readonly start: number
}

/**
 * Items in the order of their positions; those at one position stay in their order. Merges ascending runs, so that items that are almost in order
 * take little work. Yields between comparisons.
 * @returns the given list if it is in order
 */
export function* orderInSteps<Item extends Placed>(items: readonly Item[], pace: Pace): Steps<readonly Item[]> {
  let runs: (readonly Item[])[] = []
  let from = 0
  for (let at = 1; at < items.length; at++) {
    if (pace.after(1)) yield
    if (items[at - 1]!.start <= items[at]!.start) continue
    runs.push(items.slice(from, at))
    from = at
  }
  if (from === 0) return items
  runs.push(items.slice(from))
  while (runs.length > 1) {
    const merged: (readonly Item[])[] = []
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(at + 1 < runs.length ? yield* merge(runs[at]!, runs[at + 1]!, pace) : runs[at]!)
    }
    runs = merged
  }
  return runs[0]!
}

function* merge<Item extends Placed>(
  ones: readonly Item[],
  others: readonly Item[],
  pace: Pace,
): Steps<readonly Item[]> {
  const merged: Item[] = []
  let [one, other] = [0, 0]
  while (one < ones.length || other < others.length) {
    if (pace.after(1)) yield
    const isOne = other === others.length || (one < ones.length && ones[one]!.start <= others[other]!.start)
    merged.push(isOne ? ones[one++]! : others[other++]!)
  }
  return merged
}
