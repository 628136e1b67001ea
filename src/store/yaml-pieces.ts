import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments } from 'yaml'

/** A value in a YAML text that should be one object: a document, or an item of a `List`. */
export interface Piece {
  readonly value: unknown
  readonly node: Node
  readonly document: Document
  /** Line and column of its first character, from 1. */
  readonly line: number
  readonly column: number
}

/** Why a text is not YAML, and where. */
export interface SyntaxFault {
  readonly message: string
  readonly line: number
  readonly column: number
}

export interface YamlPieces {
  readonly pieces: readonly Piece[]
  /** Not empty: the text does not parse, and its pieces must not be used. */
  readonly faults: readonly SyntaxFault[]
  readonly lines: LineCounter
}

/** A part of a text that can be read by itself: a YAML document with the marker before it. */
export interface Section {
  readonly text: string
  /** Line of the whole text where it starts, from 1. */
  readonly line: number
}

/** `^` and `$` would also take what ends lines in JavaScript but not in YAML, such as U+2028 in a text. */
const MARKER = /(?=---(?![^ \t\r\n]))(?<![^\n])/
const DIRECTIVE_OR_END = /(?<![^\n])(?:%|\.\.\.(?![^ \t\r\n]))/

/** Cuts a text at its document markers. A text with directives or document ends is left whole: they reach over markers. */
export function splitDocuments(text: string): readonly Section[] {
  if (DIRECTIVE_OR_END.test(text)) return [{ text, line: 1 }]
  const sections: Section[] = []
  let line = 1
  for (const part of text.split(MARKER)) {
    sections.push({ text: part, line })
    line += part.split('\n').length - 1
  }
  return sections
}

/** Cuts YAML or JSON text into the values that should be objects. Empty documents are nothing. */
export function readPieces(text: string): YamlPieces {
  const lines = new LineCounter()
  const pieces: Piece[] = []
  const faults: SyntaxFault[] = []
  for (const document of parseAllDocuments(text, { lineCounter: lines, merge: true, prettyErrors: false })) {
    const [first] = document.errors
    // Further errors of the same document are mostly consequences of the first.
    if (first !== undefined) faults.push({ message: withoutQuote(first), ...positionAt(lines, first.pos[0]) })
    if (first !== undefined || document.contents === null) continue
    const value = resolvedValue(document)
    if (value instanceof Error) faults.push({ message: withoutQuote(value), ...startOf(lines, document.contents) })
    else if (!isEmpty(document.contents)) pieces.push(...cut(lines, document, value))
  }
  return { pieces, faults, lines }
}

/** Some messages end with a piece of the text, which may be of a Secret; the place is told anyway. */
function withoutQuote({ message }: Error): string {
  return message.replace(/: .*$/s, '')
}

/** Aliases are resolved only now; an unknown or an exploding one is a fault of the text. */
function resolvedValue(document: Document): unknown {
  try {
    return document.toJS()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function isEmpty(node: Node): boolean {
  return isScalar(node) && node.value === null
}

/** `kubectl get -o yaml` wraps several objects in a List. */
function cut(lines: LineCounter, document: Document, value: unknown): readonly Piece[] {
  const node = document.contents as Node
  const whole = { value, node, document, ...startOf(lines, node) }
  if (!isMap(node) || (value as { kind?: unknown }).kind !== 'List') return [whole]
  const { items } = value as { items?: unknown }
  const itemsNode = node.get('items', true)
  if (!Array.isArray(items) || !isSeq(itemsNode)) return [whole]
  return items.map((item, index) => {
    const itemNode = itemsNode.items[index] as Node
    return { value: item, node: itemNode, document, ...startOf(lines, itemNode) }
  })
}

function startOf(lines: LineCounter, node: Node): { line: number; column: number } {
  return positionAt(lines, node.range?.[0] ?? 0)
}

function positionAt(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

/**
 * The place of a field in a piece: its key, or the item of a list. A field that is not there is at the innermost part of its
 * path that is.
 */
export function placeOf(lines: LineCounter, piece: Piece, fieldPath: string): { line: number; column: number } {
  let node: Node | undefined = resolve(piece.document, piece.node)
  let place = { line: piece.line, column: piece.column }
  for (const step of stepsOf(fieldPath)) {
    const found = node === undefined ? undefined : childOf(piece.document, node, step)
    if (found === undefined) return place
    place = startOf(lines, found.at)
    node = found.value
  }
  return place
}

interface Child {
  readonly at: Node
  readonly value: Node | undefined
}

function childOf(document: Document, node: Node, step: string): Child | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(step)] as Node | undefined
    return item === undefined ? undefined : { at: item, value: resolve(document, item) }
  }
  if (!isMap(node)) return undefined
  for (const { key, value } of node.items) {
    if (!isScalar(key) || String(key.value) !== step) continue
    return { at: key, value: value === null ? undefined : resolve(document, value as Node) }
  }
  return mergedChildOf(document, node, step)
}

/** A field that came in through a merge key (`<<`). */
function mergedChildOf(document: Document, node: Node, step: string): Child | undefined {
  if (!isMap(node)) return undefined
  const merge = node.items.find(({ key }) => isScalar(key) && key.source === '<<')
  const source = merge === undefined ? undefined : resolve(document, merge.value as Node)
  if (source === undefined) return undefined
  const sources = isSeq(source) ? (source.items as Node[]) : [source]
  for (const candidate of sources) {
    const inner = resolve(document, candidate)
    const found = inner === undefined ? undefined : childOf(document, inner, step)
    if (found !== undefined) return found
  }
  return undefined
}

function resolve(document: Document, node: Node): Node | undefined {
  return isAlias(node) ? node.resolve(document) : node
}

/** `spec.routes[/v1.0].x` is `spec`, `routes`, `/v1.0`, `x`. */
function stepsOf(fieldPath: string): readonly string[] {
  const steps: string[] = []
  for (const [, key, name] of fieldPath.matchAll(/\[(.*?)\](?=$|[.[])|([^.[]+)/g)) steps.push(key ?? name ?? '')
  return steps
}
