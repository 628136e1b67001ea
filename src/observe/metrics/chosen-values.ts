import { labelled } from './labels.ts'
import type { Metric } from './metric.ts'
import { PLACE_FIELDS } from './metrics.ts'
import { valuesKey } from './series-key.ts'

const PLACE_LABELS = labelled(PLACE_FIELDS).labels

/** Maximum number of values chosen by peers that have their own series, for one label at one place (decision A-113). */
const MAX_VALUES = 200
/** Replaces all further values. */
const OTHER = 'other'
/** Values of the gateway itself; they do not count. */
const OWN_VALUES: ReadonlySet<string> = new Set([OTHER, 'unknown', 'overflow'])

/** Positions of the relevant values of a metric; -1: it has no such label. */
interface Positions {
  readonly place: readonly number[]
  readonly chosen: readonly number[]
}

/**
 * Bounds the values of labels that clients or backends choose: names of models and tools, and the values that expressions of custom labels
 * read. All metrics share the count, so a value with its own series in one metric has one in the others, too.
 */
export class ChosenValues {
  readonly #known = new Map<string, Set<string>>()
  readonly #positions = new Map<Metric, Positions>()
  readonly #onFolded: (label: string, place: readonly string[]) => void

  /** @param onFolded called for each value that is counted as `other`, with the values of the place labels */
  constructor(onFolded: (label: string, place: readonly string[]) => void) {
    this.#onFolded = onFolded
  }

  /** @returns the values with `other` for those that exceed the limit; the same array if none does */
  fold(metric: Metric, values: readonly string[], customNames: readonly string[]): readonly string[] {
    const { place, chosen } = this.#positionsOf(metric)
    if (chosen.length === 0 && customNames.length === 0) return values
    const where = place.map((at) => values[at] ?? 'unknown')
    let folded: string[] | undefined
    const look = (at: number, label: string) => {
      if (this.#admits(label, where, values[at]!)) return
      folded ??= [...values]
      folded[at] = OTHER
      this.#onFolded(label, where)
    }
    for (const at of chosen) look(at, metric.labels[at]!)
    for (const [i, name] of customNames.entries()) look(metric.labels.length + i, name)
    return folded ?? values
  }

  #admits(label: string, place: readonly string[], value: string): boolean {
    if (OWN_VALUES.has(value)) return true
    const key = valuesKey([label, ...place])
    const known = this.#known.get(key)
    if (known === undefined) {
      this.#known.set(key, new Set([value]))
      return true
    }
    if (known.has(value)) return true
    if (known.size >= MAX_VALUES) return false
    known.add(value)
    return true
  }

  #positionsOf(metric: Metric): Positions {
    let positions = this.#positions.get(metric)
    if (positions === undefined) {
      const find = (names: readonly string[]) => names.map((name) => metric.labels.indexOf(name))
      positions = { place: find(PLACE_LABELS), chosen: find(metric.chosenByPeers ?? []) }
      this.#positions.set(metric, positions)
    }
    return positions
  }
}
