import { compareText } from '../compare-text.ts'
import { sameData } from './same-data.ts'

/** A reader of cells. It runs again when one of them changes. */
export interface Reader {
  touch(): void
}

/**
 * The writer of rows at a key: a name for external input, else a node of a stage. Rows of several writers are in the order of the writers.
 */
export type Writer = string | NodeWriter

/** A node of a stage, with the position of the stage. */
export interface NodeWriter {
  readonly position: number
  readonly key: string
}

/** The rows of one key, as readers see them. */
export interface ReadCell<Row = unknown> {
  /** In order. */
  readonly rows: readonly Row[]
  /** Cheaper than the rows, which must be sorted. */
  readonly count: number
  /** @returns whether the reader is new for this cell */
  addReader(reader: Reader): boolean
  removeReader(reader: Reader): void
}

/** The rows of one key, as writers see them. */
export interface WrittenCell {
  readonly table: Sink<never>
  readonly key: string
}

/** A table, as its readers see it. */
export interface Source<Row> {
  readonly name: string
  /** Position of the last stage that writes it; 0: written from outside. */
  readonly writtenAt: number
  keys(): readonly string[]
  rows(key: string): readonly Row[]
  isEmpty(key: string): boolean
  cellOf(key: string): ReadCell<Row>
  watch(changed: (key: string) => void): void
}

/** A table, as its writers see it. */
export interface Sink<Row> {
  readonly name: string
  writtenAt: number
  put(key: string, writer: Writer, rows: readonly Row[]): void
  cellOf(key: string): WrittenCell
}

type Compare<Row> = (a: Row, b: Row) => number

const NO_ROWS: readonly never[] = Object.freeze([])

/**
 * Rows by key, written by the nodes of one stage (or from outside) and read by those of later stages. A reader of a key runs again when its
 * rows change. Rows are plain data: rows with equal members are equal.
 */
export class Table<Row> implements Source<Row>, Sink<Row> {
  readonly name: string
  /** Order of the rows of one key; without it they are in the order of their writers. */
  readonly compare: Compare<Row> | undefined
  readonly #cells = new Map<string, Cell<Row>>()
  readonly #watchers: ((key: string) => void)[] = []
  writtenAt = 0

  constructor(name: string, compare?: Compare<Row>) {
    this.name = name
    this.compare = compare
  }

  /** Registers a callback for keys whose rows may have changed. */
  watch(changed: (key: string) => void): void {
    this.#watchers.push(changed)
  }

  /** The rows of a key, without following them. */
  rows(key: string): readonly Row[] {
    return this.#cells.get(key)?.rows ?? NO_ROWS
  }

  /** Cheaper than the rows, which must be sorted. */
  isEmpty(key: string): boolean {
    return this.#cells.get(key)?.isEmpty ?? true
  }

  keys(): string[] {
    return [...this.#cells.values()].filter((cell) => !cell.isEmpty).map(({ key }) => key)
  }

  /** Keys that have readers, but no rows. */
  missedKeys(): string[] {
    return [...this.#cells.values()].filter((cell) => cell.isEmpty && cell.isRead).map(({ key }) => key)
  }

  /** Replaces the rows of a writer at a key; an empty list removes them. */
  put(key: string, writer: Writer, rows: readonly Row[]): void {
    const before = this.#cells.get(key)?.rowsOf(writer)
    if (before === undefined ? rows.length === 0 : sameRows(before, rows)) return
    this.cellOf(key).put(writer, keepEqual(before, rows))
    for (const changed of this.#watchers) changed(key)
  }

  /** The cell of a key, for a writer or reader. */
  cellOf(key: string): Cell<Row> {
    let cell = this.#cells.get(key)
    if (cell === undefined) {
      cell = new Cell<Row>(key, this)
      this.#cells.set(key, cell)
    }
    return cell
  }

  /** Removes a cell without writers and readers. */
  close(key: string): void {
    this.#cells.delete(key)
  }
}

/**
 * The rows of one key. There are several cells for each object, and most have at most one writer and one reader, so these are stored
 * without a collection.
 */
class Cell<Row> implements ReadCell<Row>, WrittenCell {
  readonly table: Table<Row>
  readonly key: string
  /** The only writer, if its rows are in order; otherwise all writers with their rows. */
  #writers: Writer | Map<Writer, readonly Row[]> | undefined
  /** Whether there is one row, which nearly all cells have: it is kept without a list. */
  #isOne = false
  /** The row, or the rows in order; undefined: not in order yet. */
  #content: Row | readonly Row[] | undefined = NO_ROWS
  #readers: Reader | Set<Reader> | undefined

  constructor(key: string, table: Table<Row>) {
    this.key = key
    this.table = table
  }

  get isEmpty(): boolean {
    return this.#writers === undefined
  }

  get isRead(): boolean {
    return this.#readers !== undefined
  }

  get count(): number {
    if (this.#isOne) return 1
    if (!(this.#writers instanceof Map)) return (this.#content as readonly Row[]).length
    let count = 0
    for (const rows of this.#writers.values()) count += rows.length
    return count
  }

  get rows(): readonly Row[] {
    if (this.#isOne) return [this.#content as Row]
    this.#content ??= this.#sort(this.#writers as Map<Writer, readonly Row[]>)
    return this.#content as readonly Row[]
  }

  rowsOf(writer: Writer): readonly Row[] | undefined {
    if (this.#writers instanceof Map) return this.#writers.get(writer)
    return this.#writers === writer ? this.rows : undefined
  }

  put(writer: Writer, rows: readonly Row[]): void {
    this.#replace(writer, rows)
    if (this.#readers instanceof Set) for (const reader of this.#readers) reader.touch()
    else this.#readers?.touch()
    this.#closeIfUnused()
  }

  #replace(writer: Writer, rows: readonly Row[]): void {
    const others = this.#writers
    if (!(others instanceof Map) && (others === undefined || others === writer)) {
      const isOrdered = this.table.compare === undefined || rows.length < 2
      if (rows.length === 0) this.#writers = undefined
      else this.#writers = isOrdered ? writer : new Map([[writer, rows]])
      this.#isOne = rows.length === 1
      this.#content = this.#isOne ? rows[0] : isOrdered ? rows : undefined
      return
    }
    const written = others instanceof Map ? others : new Map([[others, this.rows]])
    if (rows.length > 0) written.set(writer, rows)
    else written.delete(writer)
    this.#writers = written.size === 0 ? undefined : written
    this.#isOne = false
    this.#content = written.size === 0 ? NO_ROWS : undefined
  }

  #sort(written: ReadonlyMap<Writer, readonly Row[]>): readonly Row[] {
    const rows = [...written.keys()].sort(byWriter).flatMap((writer) => written.get(writer)!)
    return this.table.compare === undefined ? rows : rows.sort(this.table.compare)
  }

  addReader(reader: Reader): boolean {
    const readers = this.#readers
    if (readers === reader) return false
    if (readers === undefined) this.#readers = reader
    else if (!(readers instanceof Set)) this.#readers = new Set([readers, reader])
    else if (readers.has(reader)) return false
    else readers.add(reader)
    return true
  }

  removeReader(reader: Reader): void {
    const readers = this.#readers
    if (readers instanceof Set) {
      readers.delete(reader)
      if (readers.size === 0) this.#readers = undefined
    } else if (readers === reader) this.#readers = undefined
    this.#closeIfUnused()
  }

  #closeIfUnused(): void {
    if (this.isEmpty && this.#readers === undefined) this.table.close(this.key)
  }
}

function byWriter(a: Writer, b: Writer): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (typeof a === 'string') return -1
  if (typeof b === 'string') return 1
  return a.position - b.position || compareText(a.key, b.key)
}

function sameRows(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((row, i) => sameData(row, b[i]))
}

/** Unchanged rows keep their identity, so that results derived from them can be reused. */
function keepEqual<Row>(before: readonly Row[] | undefined, rows: readonly Row[]): readonly Row[] {
  if (before === undefined) return rows
  return rows.map((row, i) => (i < before.length && sameData(before[i], row) ? before[i]! : row))
}
