import type { TextRole } from './body-texts.ts'
import type { Exemption, Treatment } from './treatments.ts'

/** `role`: by the member `role`; `item`: by the member `role`, otherwise by the type of the item. */
export type RunRole = TextRole | 'role' | 'item'

/**
 * What is known about the strings of a body, by paths: `messages[].content[].text`, `tools[].{function,custom}.name`, `variables.*`. All
 * others are visible to guards and can be masked.
 */
export interface TextTable {
  /** Top-level members that the model reads before all others. */
  readonly first: readonly string[]
  /** The objects, lists or strings whose texts are a run. */
  readonly runs: Readonly<Record<string, RunRole>>
  readonly places: Readonly<Record<string, Treatment>>
  /** Objects with the same members as others, which may contain them: the blocks inside of a block. */
  readonly repeats?: Readonly<Record<string, string>>
  /** Members of this name in all objects that the paths mention, unless a path says otherwise. */
  readonly anywhere: Readonly<Record<string, Exemption>>
}

/** The table below one member of a path. */
export interface TableNode {
  readonly members: ReadonlyMap<string, TableNode>
  readonly element: TableNode | undefined
  /** All other members. */
  readonly other: TableNode | undefined
  readonly role: RunRole | undefined
  readonly treatment: Treatment | undefined
}

/** A table that is fast to follow. */
export interface CompiledTable {
  readonly first: readonly string[]
  readonly root: TableNode
  readonly anywhere: ReadonlyMap<string, TableNode>
}

class Node implements TableNode {
  members = new Map<string, Node>()
  element: Node | undefined
  other: Node | undefined
  role: RunRole | undefined
  treatment: Treatment | undefined

  constructor(treatment?: Treatment) {
    this.treatment = treatment
  }

  /** Has the same members as another from now on. */
  repeat({ members, element, treatment }: Node): void {
    this.members = members
    this.element ??= element
    this.treatment ??= treatment
  }

  at(step: string): Node {
    if (step === '[]') {
      this.element ??= new Node()
      return this.element
    }
    if (step === '*') {
      this.other ??= new Node()
      return this.other
    }
    let node = this.members.get(step)
    if (node === undefined) {
      node = new Node()
      this.members.set(step, node)
    }
    return node
  }
}

/** Compiles when it is first read: every thread has these tables, and most gateways guard no traffic of LLMs. */
export function compileTable(table: TextTable): CompiledTable {
  let compiled: CompiledTable | undefined
  return {
    first: table.first,
    get root() {
      compiled ??= compileNow(table)
      return compiled.root
    },
    get anywhere() {
      compiled ??= compileNow(table)
      return compiled.anywhere
    },
  }
}

function compileNow({ first, runs, places, repeats = {}, anywhere }: TextTable): CompiledTable {
  const root = new Node()
  const nodeAt = (path: string) => stepsOf(path).reduce((node, step) => node.at(step), root)
  for (const [paths, role] of Object.entries(runs)) for (const path of expandPaths(paths)) nodeAt(path).role = role
  for (const [paths, treatment] of Object.entries(places)) {
    for (const path of expandPaths(paths)) nodeAt(path).treatment = treatment
  }
  for (const [paths, target] of Object.entries(repeats)) {
    for (const path of expandPaths(paths)) nodeAt(path).repeat(nodeAt(target))
  }
  const names = new Map(Object.entries(anywhere).map(([name, treatment]) => [name, new Node(treatment)]))
  return { first, root, anywhere: names }
}

/** The table for a member of a value; undefined: it is unknown. */
export function memberNode({ anywhere }: CompiledTable, node: TableNode, name: string): TableNode | undefined {
  return node.members.get(name) ?? node.other ?? anywhere.get(name) ?? variantOf(name, node)
}

/** Some providers take names in any case. What they ignore is checked as well. */
function variantOf(name: string, { members }: TableNode): TableNode | undefined {
  const found = members.get(name.toUpperCase().toLowerCase())
  return found?.treatment?.kind === 'exempt' ? undefined : found
}

/** The table for an element of a list. In the place of a text, it is a list of texts. */
export function elementNode(node: TableNode): TableNode | undefined {
  return node.element ?? (node.treatment?.kind === 'text' ? node : undefined)
}

/** The paths that a pattern with alternatives stands for: `a.{b,c}.d` for `a.b.d` and `a.c.d`. */
export function expandPaths(pattern: string): readonly string[] {
  const open = pattern.lastIndexOf('{')
  if (open < 0) return [pattern]
  const close = pattern.indexOf('}', open)
  const [before, after] = [pattern.slice(0, open), pattern.slice(close + 1)]
  return pattern
    .slice(open + 1, close)
    .split(',')
    .flatMap((name) => expandPaths(before + name + after))
}

/** The same paths below another; the empty one is the other itself. */
export function under<Value>(prefix: string, paths: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(paths).map(([path, value]) => {
      return [path === '' || path.startsWith('[]') ? prefix + path : `${prefix}.${path}`, value]
    }),
  )
}

function stepsOf(path: string): readonly string[] {
  return path.match(/\[\]|[^.[\]]+/g) ?? []
}
