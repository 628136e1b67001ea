import type { NodeWriter, ReadCell, Reader, Sink, Source, WrittenCell } from './table.ts'

/** Operations of one node: it reads tables of earlier stages and writes tables of its own stage. */
export interface Work {
  /** Reads the rows of a key; the node runs again when they change. */
  read<Row>(table: Source<Row>, key: string): readonly Row[]
  /** Reads the number of rows of a key; the node runs again when it changes. */
  count(table: Source<unknown>, key: string): number
  /** Adds a row. Rows of an earlier run that this run does not write are removed. */
  write<Row>(table: Sink<Row>, key: string, row: Row): void
}

export interface StageDefinition<Row> {
  readonly name: string
  /** The stage has a node for each key with rows in these tables. The tables have no keys in common. */
  readonly each: readonly Source<Row>[]
  /** The tables that the nodes of the stage write. A table is complete after the last stage that writes it. */
  readonly writes: readonly Sink<never>[]
  /** Computes the result of one key. It reads only `rows` and the tables that it queries through `work`. */
  run(rows: readonly Row[], work: Work, key: string): void
}

/** A run of a node that threw. */
export interface NodeFault {
  readonly stage: string
  readonly key: string
  /** The rows of the key in the tables of `each`. */
  readonly rows: readonly unknown[]
  readonly error: unknown
}

/**
 * Stages that derive tables from tables, in order. A change runs only the nodes again whose inputs changed. Inputs are recorded as a node
 * reads them, not listed by hand. A stage can read only tables of earlier stages, so one pass is enough. A node that throws keeps the rows of
 * its run before, and does not affect other nodes.
 */
export class Stages {
  readonly #stages: Stage<never>[] = []
  readonly #onFault: (fault: NodeFault) => void

  /** @param onFault called for each run that throws; by default, the error is thrown again */
  constructor(onFault: (fault: NodeFault) => void = throwAgain) {
    this.#onFault = onFault
  }

  /** The faults of the nodes whose last run threw, in the order of the stages. */
  get faults(): readonly NodeFault[] {
    return this.#stages.flatMap(({ faults }) => [...faults.values()])
  }

  /** Number of nodes that have run and of rows that they have read: a measure of work that does not depend on the machine. */
  get work(): number {
    return this.#stages.reduce((sum, stage) => sum + stage.work, 0)
  }

  add<Row>(definition: StageDefinition<Row>): void {
    const stage = new Stage(definition, this.#stages.length + 1, this.#onFault)
    this.#stages.push(stage as unknown as Stage<never>)
  }

  /** Applies the changes since the last call. */
  update(): void {
    for (const stage of this.#stages) stage.update()
  }
}

function throwAgain({ error }: NodeFault): never {
  throw error
}

class Stage<Row> {
  readonly position: number
  /** By key. */
  readonly faults = new Map<string, NodeFault>()
  readonly #definition: StageDefinition<Row>
  readonly #nodes = new Map<string, Node>()
  readonly #touched = new Set<string>()
  readonly #work: NodeWork
  readonly #onFault: (fault: NodeFault) => void

  constructor(definition: StageDefinition<Row>, position: number, onFault: (fault: NodeFault) => void) {
    this.#definition = definition
    this.position = position
    this.#onFault = onFault
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
    const known = this.#nodes.get(key)
    this.faults.delete(key)
    if (source === undefined) {
      known?.end()
      this.#nodes.delete(key)
      return
    }
    const node = known ?? new Node(this, key)
    const fault = this.#run(node, source.rows(key))
    if (node.isIdle) this.#nodes.delete(key)
    else if (known === undefined) this.#nodes.set(key, node)
    if (fault === undefined) return
    this.faults.set(key, fault)
    this.#onFault(fault)
  }

  #run(node: Node, rows: readonly Row[]): NodeFault | undefined {
    this.#work.begin(node, rows.length)
    try {
      this.#definition.run(rows, this.#work, node.key)
    } catch (error) {
      this.#work.fail()
      return { stage: this.#definition.name, key: node.key, rows, error }
    }
    this.#work.end()
    return undefined
  }
}

type RowsByKey = Map<string, never[]>

/** The operations for one node after the other. */
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
    for (const [, rows] of this.#written) rows.clear()
    node.forget()
    this.#node = node
    this.done += 1 + rows
  }

  read<R>(table: Source<R>, key: string): readonly R[] {
    const { rows } = this.#cellOf(table, key)
    this.done += rows.length
    return rows
  }

  count(table: Source<unknown>, key: string): number {
    return this.#cellOf(table, key).count
  }

  write<R>(table: Sink<R>, key: string, row: R): void {
    const byKey = this.#rowsOf(table)
    const rows = byKey.get(key)
    if (rows === undefined) byKey.set(key, [row as never])
    else rows.push(row as never)
  }

  end(): void {
    this.#node!.publish(this.#written)
    this.#follow()
  }

  /** The rows of the run before stay. What the node has read decides whether it throws, so a change of that runs it again. */
  fail(): void {
    this.#follow()
  }

  checkOrder({ name, writtenAt }: { readonly name: string; readonly writtenAt: number }): void {
    if (writtenAt < this.#position) return
    throw new Error(`stage ${this.#stage} must not read ${name}, which is written later`)
  }

  #follow(): void {
    this.#node!.follow(this.#read.length === 0 ? NONE : this.#read.splice(0))
  }

  #cellOf<R>(table: Source<R>, key: string): ReadCell<R> {
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

/** One key of a stage, with the cells that it reads and writes. */
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

  /** It has read and written nothing, so only a change of its rows runs it again, which does not need the node. */
  get isIdle(): boolean {
    return this.#reads.length === 0 && this.#written.length === 0
  }

  touch(): void {
    this.#stage.touch(this.key)
  }

  /** @param cells that the node now reads, each once */
  follow(cells: readonly ReadCell[]): void {
    this.#reads = cells
  }

  /** Stops following all cells. */
  forget(): void {
    for (const cell of this.#reads) cell.removeReader(this)
    this.#reads = NONE
  }

  /** Replaces the rows of the previous run with those of this run. */
  publish(written: readonly (readonly [table: Sink<never>, rows: RowsByKey])[]): void {
    for (const { table, key } of this.#written) {
      if (!written.some(([sink, rows]) => sink === table && rows.has(key))) table.put(key, this, NONE)
    }
    for (const [table, byKey] of written) for (const [key, rows] of byKey) table.put(key, this, rows)
    const cells = written.flatMap(([table, byKey]) => [...byKey.keys()].map((key) => table.cellOf(key)))
    // Copied, because a list that has grown has spare capacity.
    this.#written = cells.length === 0 ? NONE : cells.slice()
  }

  end(): void {
    this.forget()
    this.publish(NONE)
  }
}
