import type { Pace, Steps } from './in-slices.ts'

interface Placed {
  readonly start: number
}

type Compare<Item> = (one: Item, other: Item) => number

/** Items in the order of their positions. */
export function orderInSteps<Item extends Placed>(items: readonly Item[], pace: Pace): Steps<readonly Item[]> {
  return sortInSteps(items, pace, byStart)
}

function byStart(one: Placed, other: Placed): number {
  return one.start - other.start
}

/**
 * Items in an order; those that are equal stay in theirs. Merges ascending runs, so that items that are almost in order
 * take little work. Yields between comparisons.
 * @returns the given list if it is in order
 */
function* sortInSteps<Item>(items: readonly Item[], pace: Pace, compare: Compare<Item>): Steps<readonly Item[]> {
  let runs: (readonly Item[])[] = []
  let from = 0
  for (let at = 1; at < items.length; at++) {
    if (pace.after(1)) yield
    if (compare(items[at - 1]!, items[at]!) <= 0) continue
    runs.push(items.slice(from, at))
    from = at
  }
  if (from === 0) return items
  runs.push(items.slice(from))
  while (runs.length > 1) {
    const merged: (readonly Item[])[] = []
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(at + 1 < runs.length ? yield* merge(runs[at]!, runs[at + 1]!, pace, compare) : runs[at]!)
    }
    runs = merged
  }
  return runs[0]!
}

function* merge<Item>(
  ones: readonly Item[],
  others: readonly Item[],
  pace: Pace,
  compare: Compare<Item>,
): Steps<readonly Item[]> {
  const merged: Item[] = []
  let [one, other] = [0, 0]
  while (one < ones.length || other < others.length) {
    if (pace.after(1)) yield
    const isOne = other === others.length || (one < ones.length && compare(ones[one]!, others[other]!) <= 0)
    merged.push(isOne ? ones[one++]! : others[other++]!)
  }
  return merged
}
