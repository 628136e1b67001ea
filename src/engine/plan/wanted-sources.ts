import type { Work } from '#base/incremental/stage.ts'
import { Table } from '#base/incremental/table.ts'

/** The sources of values that policies refer to, as far as they changed. */
export interface SourceChange<Source> {
  /** New sources, and those that changed under the same id. */
  readonly wanted: readonly Source[]
  /** Ids of sources that no policy refers to any more. */
  readonly dropped: readonly string[]
}

/** A source as one policy refers to it. */
interface Reference<Source> {
  readonly source: Source
  /** Something that changes when the source changes although its id is the same. */
  readonly version: unknown
  /** Of all references to one source, the one with the lowest number counts. */
  readonly rank: number
}

/** Records which values that the main thread keeps current (`KeptValue`) the policies of a plan refer to. */
export class WantedSources<Source> {
  readonly table: Table<Reference<Source>>
  readonly #idOf: (source: Source) => string
  readonly #changed = new Set<string>()
  /** Number of state changes of a value, by its id. */
  readonly states: Table<number>
  /** Sources that are being kept, by id. */
  readonly #wanted = new Map<string, Reference<Source>>()

  /** @param name of its tables */
  constructor(name: string, idOf: (source: Source) => string) {
    this.table = new Table(name)
    this.states = new Table(`${name}States`)
    this.#idOf = idOf
    this.table.watch((id) => this.#changed.add(id))
  }

  /** A policy refers to a source, and is compiled again when the state of its value changes. */
  record(work: Work, source: Source, version: unknown, rank: number): void {
    const id = this.#idOf(source)
    work.write(this.table, id, { source, version, rank })
    work.read(this.states, id)
  }

  stateChanged(id: string): void {
    const [times = 0] = this.states.rows(id)
    this.states.put(id, '', [times + 1])
  }

  takeChange(): SourceChange<Source> {
    const wanted: Source[] = []
    const dropped: string[] = []
    for (const id of this.#changed) {
      const row = this.table.rows(id).toSorted((a, b) => a.rank - b.rank)[0]
      const before = this.#wanted.get(id)
      if (row === undefined) {
        if (this.#wanted.delete(id)) dropped.push(id)
      } else if (before === undefined || row.version !== before.version || row.rank !== before.rank) {
        wanted.push(row.source)
        this.#wanted.set(id, row)
      }
    }
    this.#changed.clear()
    return { wanted, dropped }
  }
}
