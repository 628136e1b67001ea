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

const NO_ROWS: readonly never[] = Object.freeze([])

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

  /** The rows of a key for a node that is to run again when they change. */
  follow(key: string, reader: Reader): readonly Row[] {
    const cell = this.#cellOf(key)
    cell.addReader(reader)
    return cell.sorted(this.#compare)
  }

  /** How many rows a key has, for a node that is to run again when they change; cheaper than the rows, which have an order. */
  followCount(key: string, reader: Reader): number {
    const cell = this.#cellOf(key)
    cell.addReader(reader)
    return cell.count
  }

  keys(): string[] {
    return [...this.#cells.values()].filter((cell) => !cell.isEmpty).map(({ key }) => key)
  }

  /** Replaces the rows that a writer has put at a key; an empty list takes them away. */
  put(key: string, writer: string, rows: readonly Row[]): void {
    const before = this.#cells.get(key)?.rowsOf(writer)
    if (before === undefined ? rows.length === 0 : sameRows(before, rows)) return
    this.#cellOf(key).put(writer, keepEqual(before, rows))
    for (const changed of this.#watchers) changed(key)
  }

  #cellOf(key: string): Cell<Row> {
    const known = this.#cells.get(key)
    if (known !== undefined) return known
    const cell = new Cell<Row>(key, this.#close)
    this.#cells.set(key, cell)
    return cell
  }

  readonly #close = (cell: Cell<Row>): void => {
    this.#cells.delete(cell.key)
  }
}

/** The rows of one key. Most cells have one writer and no reader, so neither takes a collection of its own. */
export class Cell<Row = unknown> {
  readonly #close: (cell: Cell<Row>) => void
  readonly key: string
  #writer: string | undefined
  #rows: readonly Row[] = NO_ROWS
  /** All writers when there are several. */
  #written: Map<string, readonly Row[]> | undefined
  #readers: Set<Reader> | undefined
  #sorted: readonly Row[] | undefined

  constructor(key: string, close: (cell: Cell<Row>) => void) {
    this.key = key
    this.#close = close
  }

  get isEmpty(): boolean {
    return this.#writer === undefined && this.#written === undefined
  }

  get count(): number {
    if (this.#written === undefined) return this.#rows.length
    let count = 0
    for (const rows of this.#written.values()) count += rows.length
    return count
  }

  rowsOf(writer: string): readonly Row[] | undefined {
    if (this.#written !== undefined) return this.#written.get(writer)
    return this.#writer === writer ? this.#rows : undefined
  }

  put(writer: string, rows: readonly Row[]): void {
    this.#replace(writer, rows)
    this.#sorted = undefined
    for (const reader of this.#readers ?? []) reader.touch()
    this.#closeIfUnused()
  }

  #replace(writer: string, rows: readonly Row[]): void {
    const written = this.#written
    if (written !== undefined) {
      if (rows.length > 0) written.set(writer, rows)
      else written.delete(writer)
      if (written.size === 0) this.#written = undefined
    } else if (this.#writer !== undefined && this.#writer !== writer) {
      this.#written = new Map([
        [this.#writer, this.#rows],
        [writer, rows],
      ])
      this.#writer = undefined
      this.#rows = NO_ROWS
    } else {
      this.#writer = rows.length > 0 ? writer : undefined
      this.#rows = rows
    }
  }

  sorted(compare: ((a: Row, b: Row) => number) | undefined): readonly Row[] {
    this.#sorted ??= this.#sort(compare)
    return this.#sorted
  }

  #sort(compare: ((a: Row, b: Row) => number) | undefined): readonly Row[] {
    const written = this.#written
    if (written === undefined)
      return compare === undefined || this.#rows.length < 2 ? this.#rows : this.#rows.toSorted(compare)
    const rows = [...written.keys()].sort().flatMap((writer) => written.get(writer)!)
    return compare === undefined ? rows : rows.sort(compare)
  }

  addReader(reader: Reader): void {
    this.#readers ??= new Set()
    this.#readers.add(reader)
    reader.reads.add(this as Cell)
  }

  removeReader(reader: Reader): void {
    this.#readers?.delete(reader)
    if (this.#readers?.size === 0) this.#readers = undefined
    this.#closeIfUnused()
  }

  #closeIfUnused(): void {
    if (this.isEmpty && this.#readers === undefined) this.#close(this)
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
