/** Somebody who reads cells, and works again when one of them changes. */
export interface Reader {
  readonly reads: Set<Cell>
  touch(): void
}

/** A table as those see it who read it. */
export interface Source<Row> {
  readonly name: string
  /** Position of the last stage that writes it; 0: written from outside. */
  readonly writtenAt: number
  keys(): readonly string[]
  rows(key: string): readonly Row[]
  follow(key: string, reader: Reader): readonly Row[]
  followCount(key: string, reader: Reader): number
  watch(changed: (key: string) => void): void
}

/** A table as those see it who write it. */
export interface Sink<Row> {
  readonly name: string
  writtenAt: number
  put(key: string, writer: string, rows: readonly Row[]): void
}

/**
 * Rows by key, written by the nodes of one stage (or from outside) and read by those of later ones. Whoever reads a key is run again
 * when its rows change. Rows are plain data: two that have the same members count as the same.
 */
export class Table<Row> implements Source<Row>, Sink<Row> {
  readonly name: string
  readonly #compare: ((a: Row, b: Row) => number) | undefined
  readonly #cells = new Map<string, Cell<Row>>()
  readonly #watchers: ((key: string) => void)[] = []
  writtenAt = 0

  /** @param compare order of the rows of one key; without it they stand in the order of the keys of their writers */
  constructor(name: string, compare?: (a: Row, b: Row) => number) {
    this.name = name
    this.#compare = compare
  }

  /** Calls back when the rows of a key may have changed. */
  watch(changed: (key: string) => void): void {
    this.#watchers.push(changed)
  }

  /** The rows of a key, without following them; the very same list until they change. */
  rows(key: string): readonly Row[] {
    return this.#cells.get(key)?.sorted(this.#compare) ?? NO_ROWS
  }

  /** How many rows a key has, for a node that is to run again when they change; cheaper than the rows, which have an order. */
  followCount(key: string, reader: Reader): number {
    const cell = this.#cells.get(key) ?? this.#open(key)
    cell.readers.add(reader)
    reader.reads.add(cell)
    let count = 0
    for (const rows of cell.written.values()) count += rows.length
    return count
  }

  /** The rows of a key for a node that is to run again when they change. */
  follow(key: string, reader: Reader): readonly Row[] {
    const cell = this.#cells.get(key) ?? this.#open(key)
    cell.readers.add(reader)
    reader.reads.add(cell)
    return cell.sorted(this.#compare)
  }

  keys(): string[] {
    return [...this.#cells].filter(([, cell]) => cell.written.size > 0).map(([key]) => key)
  }

  /** Replaces the rows that a writer has put at a key; an empty list takes them away. */
  put(key: string, writer: string, rows: readonly Row[]): void {
    const cell = this.#cells.get(key)
    const before = cell?.written.get(writer)
    if (before === undefined ? rows.length === 0 : sameRows(before, rows)) return
    const open = cell ?? this.#open(key)
    if (rows.length === 0) open.written.delete(writer)
    else open.written.set(writer, keepEqual(before, rows))
    open.changed()
    for (const changed of this.#watchers) changed(key)
    open.closeIfUnused()
  }

  #open(key: string): Cell<Row> {
    const cell = new Cell<Row>(() => this.#cells.delete(key))
    this.#cells.set(key, cell)
    return cell
  }
}

const NO_ROWS: readonly never[] = Object.freeze([])

/** The rows of one key. */
export class Cell<Row = unknown> {
  readonly written = new Map<string, readonly Row[]>()
  readonly readers = new Set<Reader>()
  readonly #close: () => void
  #sorted: readonly Row[] | undefined

  constructor(close: () => void) {
    this.#close = close
  }

  sorted(compare: ((a: Row, b: Row) => number) | undefined): readonly Row[] {
    this.#sorted ??= this.#sort(compare)
    return this.#sorted
  }

  #sort(compare: ((a: Row, b: Row) => number) | undefined): readonly Row[] {
    const { written } = this
    if (written.size === 0) return NO_ROWS
    if (written.size === 1) {
      const [[, rows]] = written as unknown as [[string, readonly Row[]]]
      return compare === undefined ? rows : rows.toSorted(compare)
    }
    const writers = [...written.keys()].sort()
    const rows = writers.flatMap((writer) => written.get(writer)!)
    return compare === undefined ? rows : rows.sort(compare)
  }

  changed(): void {
    this.#sorted = undefined
    for (const reader of this.readers) reader.touch()
  }

  closeIfUnused(): void {
    if (this.written.size === 0 && this.readers.size === 0) this.#close()
  }
}

function sameRows(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((row, i) => sameData(row, b[i]))
}

/** Rows that did not change stay the very same objects, so that what was made of them can stay too. */
function keepEqual<Row>(before: readonly Row[] | undefined, rows: readonly Row[]): readonly Row[] {
  if (before === undefined) return rows
  return rows.map((row, i) => (i < before.length && sameData(before[i], row) ? before[i]! : row))
}

/** Whether two pieces of plain data are the same; members that are undefined count as absent. */
function sameData(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameData(item, b[i]))
  if (Array.isArray(b)) return false
  const one = a as Readonly<Record<string, unknown>>
  const other = b as Readonly<Record<string, unknown>>
  for (const name in one) if (!sameData(one[name], other[name])) return false
  for (const name in other) if (other[name] !== undefined && one[name] === undefined) return false
  return true
}
