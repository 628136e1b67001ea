import type { NodeWriter, ReadCell, Reader, Sink, Source, WrittenCell } from './table.ts'

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

  /** How many nodes have run so far, and how many rows they have read: what the work has come to, on any machine. */
  get work(): number {
    return this.#stages.reduce((sum, stage) => sum + stage.work, 0)
  }

  add<Row>(definition: StageDefinition<Row>): void {
    const stage = new Stage(definition, this.#stages.length + 1)
    this.#stages.push(stage as unknown as Stage<never>)
  }

  /** Works out what follows from the changes since the last time. */
  update(): void {
    for (const stage of this.#stages) stage.update()
  }
}

class Stage<Row> {
  readonly position: number
  readonly #definition: StageDefinition<Row>
  readonly #nodes = new Map<string, Node>()
  readonly #touched = new Set<string>()
  readonly #work: NodeWork

  constructor(definition: StageDefinition<Row>, position: number) {
    this.#definition = definition
    this.position = position
    this.#work = new NodeWork(definition, position)
    for (const table of definition.each) {
      for (const key of table.keys()) this.touch(key)
      table.watch((key) => this.touch(key))
    }
    for (const table of definition.writes) table.writtenAt = position
  }

  get work(): number {
    return this.#work.done
  }

  touch(key: string): void {
    this.#touched.add(key)
  }

  update(): void {
    for (const table of this.#definition.each) this.#work.checkOrder(table)
    for (const key of [...this.#touched].sort()) this.#updateNode(key)
    this.#touched.clear()
  }

  #updateNode(key: string): void {
    const source = this.#definition.each.find((table) => !table.isEmpty(key))
    let node = this.#nodes.get(key)
    if (source === undefined) {
      node?.end()
      this.#nodes.delete(key)
      return
    }
    if (node === undefined) {
      node = new Node(this, key)
      this.#nodes.set(key, node)
    }
    const rows = source.rows(key)
    this.#work.begin(node, rows.length)
    this.#definition.run(rows, this.#work, key)
    this.#work.end()
  }
}

type RowsByKey = Map<string, never[]>

/** The work on one node after the other. */
class NodeWork implements Work {
  readonly #stage: string
  readonly #position: number
  readonly #written: readonly [table: Sink<never>, rows: RowsByKey][]
  readonly #read: ReadCell[] = []
  #node: Node | undefined
  done = 0

  constructor({ name, writes }: Pick<StageDefinition<never>, 'name' | 'writes'>, position: number) {
    this.#stage = name
    this.#position = position
    this.#written = [...new Set(writes)].map((table) => [table, new Map()])
  }

  begin(node: Node, rows: number): void {
    // What is left of a run that threw.
    for (const [, rows] of this.#written) rows.clear()
    for (const cell of this.#read.splice(0)) cell.removeReader(this.#node!)
    node.forget()
    this.#node = node
    this.done += 1 + rows
  }

  read<R>(table: Source<R>, key: string): readonly R[] {
    const { rows } = this.#follow(table, key)
    this.done += rows.length
    return rows
  }

  count(table: Source<unknown>, key: string): number {
    return this.#follow(table, key).count
  }

  write<R>(table: Sink<R>, key: string, row: R): void {
    const byKey = this.#rowsOf(table)
    const rows = byKey.get(key)
    if (rows === undefined) byKey.set(key, [row as never])
    else rows.push(row as never)
  }

  end(): void {
    this.#node!.publish(this.#written)
    this.#node!.follow(this.#read.splice(0))
  }

  checkOrder({ name, writtenAt }: { readonly name: string; readonly writtenAt: number }): void {
    if (writtenAt < this.#position) return
    throw new Error(`stage ${this.#stage} must not read ${name}, which is written later`)
  }

  #follow<R>(table: Source<R>, key: string): ReadCell<R> {
    this.checkOrder(table)
    const cell = table.cellOf(key)
    if (cell.addReader(this.#node!)) this.#read.push(cell)
    return cell
  }

  #rowsOf(table: Sink<never>): RowsByKey {
    for (const [sink, rows] of this.#written) if (sink === table) return rows
    throw new Error(`stage ${this.#stage} does not write ${table.name}`)
  }
}

const NONE: readonly never[] = Object.freeze([])

/** One key of a stage: what it read, and where it wrote. */
class Node implements Reader, NodeWriter {
  readonly key: string
  readonly #stage: { readonly position: number; touch(key: string): void }
  #reads: readonly ReadCell[] = NONE
  #written: readonly WrittenCell[] = NONE

  constructor(stage: { readonly position: number; touch(key: string): void }, key: string) {
    this.#stage = stage
    this.key = key
  }

  get position(): number {
    return this.#stage.position
  }

  touch(): void {
    this.#stage.touch(this.key)
  }

  /** @param cells that it reads already, each once */
  follow(cells: readonly ReadCell[]): void {
    this.#reads = cells
  }

  /** Follows nothing any more. */
  forget(): void {
    for (const cell of this.#reads) cell.removeReader(this)
    this.#reads = NONE
  }

  /** Puts what it wrote in place of what it wrote before. */
  publish(written: readonly (readonly [table: Sink<never>, rows: RowsByKey])[]): void {
    for (const { table, key } of this.#written) {
      if (!written.some(([sink, rows]) => sink === table && rows.has(key))) table.put(key, this, NONE)
    }
    for (const [table, byKey] of written) for (const [key, rows] of byKey) table.put(key, this, rows)
    // Copied, since a list that was grown is longer than what is in it.
    this.#written = written.flatMap(([table, byKey]) => [...byKey.keys()].map((key) => table.cellOf(key))).slice()
  }

  end(): void {
    this.forget()
    this.publish(NONE)
  }
}
