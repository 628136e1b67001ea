import type { Cell, Reader, Sink, Source } from './table.ts'

/** What the work of one node may do: read tables of earlier stages, and write tables of its own. */
export interface Work {
  /** The rows of a key; the node runs again when they change. */
  read<Row>(table: Source<Row>, key: string): readonly Row[]
  /** How many rows a key has; the node runs again when they change. */
  count(table: Source<unknown>, key: string): number
  /** Adds a row; what an earlier run wrote and this one does not goes away. */
  write<Row>(table: Sink<Row>, key: string, row: Row): void
}

export interface StageDefinition<Row> {
  readonly name: string
  /** There is a node for each key of these tables that has rows. Their keys differ from each other. */
  readonly each: readonly Source<Row>[]
  /** The tables that its nodes write. They are complete after the last stage that writes them. */
  readonly writes: readonly Sink<never>[]
  /** Works out what one key means. Reads nothing but its rows and what it asks `work` for. */
  run(rows: readonly Row[], work: Work, key: string): void
}

/**
 * Stages that derive tables from tables, in order. A change runs the nodes again whose inputs changed, and no others. Inputs are what
 * a node has read, not a list kept by hand; a stage can read only what earlier stages have finished, so that one pass suffices.
 */
export class Stages {
  readonly #stages: Stage<never>[] = []

  add<Row>(definition: StageDefinition<Row>): void {
    const stage = new Stage(definition, this.#stages.length + 1)
    this.#stages.push(stage as unknown as Stage<never>)
  }

  /** Works out what follows from the changes since the last time. */
  settle(): void {
    for (const stage of this.#stages) stage.settle()
  }
}

class Stage<Row> {
  readonly position: number
  readonly #definition: StageDefinition<Row>
  readonly #nodes = new Map<string, Node>()
  readonly #touched = new Set<string>()
  /** Several stages may write one table: their rows stand in the order of the stages. */
  readonly #writer: string

  constructor(definition: StageDefinition<Row>, position: number) {
    this.#definition = definition
    this.position = position
    for (const table of definition.each) {
      for (const key of table.keys()) this.touch(key)
      table.watch((key) => this.touch(key))
    }
    for (const table of definition.writes) table.writtenAt = position
    this.#writer = `${`${position}`.padStart(2, '0')} `
  }

  touch(key: string): void {
    this.#touched.add(key)
  }

  settle(): void {
    for (const table of this.#definition.each) this.#checkOrder(table)
    for (const key of [...this.#touched].sort()) this.#settleNode(key)
    this.#touched.clear()
  }

  #settleNode(key: string): void {
    const rows = this.#rowsOf(key)
    const node = this.#nodes.get(key)
    if (rows.length === 0) {
      node?.end()
      this.#nodes.delete(key)
      return
    }
    if (node !== undefined) return this.#run(node, key, rows)
    const made = new Node(() => this.touch(key))
    this.#nodes.set(key, made)
    this.#run(made, key, rows)
  }

  #run(node: Node, key: string, rows: readonly Row[]): void {
    const written = new Map<Sink<never>, Map<string, unknown[]>>()
    node.forget()
    this.#definition.run(
      rows,
      {
        read: (table, at) => {
          this.#checkOrder(table)
          return table.follow(at, node)
        },
        count: (table, at) => {
          this.#checkOrder(table)
          return table.followCount(at, node)
        },
        write: (table, at, row) => {
          const sink = table as Sink<never>
          let byKey = written.get(sink)
          if (byKey === undefined) {
            this.#checkWritten(sink)
            byKey = new Map()
            written.set(sink, byKey)
          }
          const list = byKey.get(at)
          if (list === undefined) byKey.set(at, [row])
          else list.push(row)
        },
      },
      key,
    )
    node.publish(`${this.#writer}${key}`, written)
  }

  #rowsOf(key: string): readonly Row[] {
    for (const table of this.#definition.each) {
      const rows = table.rows(key)
      if (rows.length > 0) return rows
    }
    return []
  }

  #checkWritten(table: Sink<never>): void {
    const { name, writes } = this.#definition
    if (!writes.includes(table)) throw new Error(`stage ${name} does not write ${table.name}`)
  }

  #checkOrder({ name, writtenAt }: { readonly name: string; readonly writtenAt: number }): void {
    if (writtenAt < this.position) return
    throw new Error(`stage ${this.#definition.name} must not read ${name}, which is written later`)
  }
}

const NOTHING_WRITTEN: Written = new Map()

type Written = ReadonlyMap<Sink<never>, ReadonlyMap<string, readonly unknown[]>>

/** The work on one key of a stage: what it read, and what it wrote. */
class Node implements Reader {
  readonly reads = new Set<Cell>()
  readonly touch: () => void
  #written = NOTHING_WRITTEN
  #key = ''

  constructor(touch: () => void) {
    this.touch = touch
  }

  /** Follows nothing any more. */
  forget(): void {
    for (const cell of this.reads) cell.removeReader(this)
    this.reads.clear()
  }

  /** Puts what it wrote in place of what it wrote before. */
  publish(key: string, written: Written): void {
    const before = this.#written
    this.#key = key
    this.#written = written
    for (const [table, byKey] of before) {
      for (const at of byKey.keys()) if (!written.get(table)?.has(at)) table.put(at, key, [])
    }
    for (const [table, byKey] of written) {
      for (const [at, rows] of byKey) table.put(at, key, rows as readonly never[])
    }
  }

  end(): void {
    this.forget()
    this.publish(this.#key, NOTHING_WRITTEN)
  }
}
