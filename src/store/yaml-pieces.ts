import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node } from 'yaml'
import { parseJson } from '#base/parse-json.ts'
import { parseDocuments } from './parse-documents.ts'
import { describeAliasError, describeSyntaxError, positionAt, type SyntaxFault } from './yaml-faults.ts'

/** A value of a YAML text that should be an object: a document, or an item of a `List`. */
export interface Piece {
  readonly value: unknown
  readonly node: Node
  readonly document: Document
  /** Line and column of its first character, from 1. */
  readonly line: number
  readonly column: number
}

export interface YamlPieces {
  readonly pieces: readonly Piece[]
  /** Not empty: the text does not parse, and its pieces must not be used. */
  readonly faults: readonly SyntaxFault[]
  readonly lines: LineCounter
}

/** A part of a text that can be read separately: a YAML document with its marker. */
export interface Section {
  readonly text: string
  /** Line of the whole text where the section starts (from 1). */
  readonly line: number
}

/** Without `^` and `$`, which also match line ends of JavaScript that are not line ends in YAML, such as U+2028. */
const MARKER = /(?=---(?![^ \t\r\n]))(?<![^\n])/
const DIRECTIVE_OR_END = /(?<![^\n])(?:%|\.\.\.(?![^ \t\r\n]))/

/** Splits a text at its document markers. A text with directives or document ends is not split, because their effect crosses markers. */
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

/** Splits YAML or JSON text into the values that should be objects. Empty documents are ignored. */
export function readPieces(text: string): YamlPieces {
  const lines = new LineCounter()
  const pieces: Piece[] = []
  const faults: SyntaxFault[] = []
  for (const document of parseDocuments(text, { lineCounter: lines, merge: true, prettyErrors: false })) {
    const [first] = document.errors
    // Further errors of the same document usually result from the first.
    if (first !== undefined) faults.push(describeSyntaxError(first, { text, document, lines }))
    if (first !== undefined || document.contents === null) continue
    const value = resolvedValue(document)
    if (value instanceof Error) faults.push(describeAliasError(value, { text, document, lines }))
    else if (!isEmpty(document.contents)) pieces.push(...cut(lines, document, value))
  }
  return { pieces, faults, lines }
}

/** Resolves aliases. An unknown alias, or one that expands too much, is an error of the text. */
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
  const itemsNode = node.get('items')
  if (!Array.isArray(items) || !isSeq(itemsNode)) return [whole]
  return items.map((item, index) => {
    const itemNode = itemsNode.items[index] as Node
    return { value: item, node: itemNode, document, ...startOf(lines, itemNode) }
  })
}

function startOf(lines: LineCounter, node: Node): { line: number; column: number } {
  return positionAt(lines, node.range?.[0] ?? 0)
}

/**
 * The position of a field in a piece: of its key, or of the list item. A missing field has the position of the innermost existing part of
 * its path.
 */
export function positionOf(lines: LineCounter, piece: Piece, fieldPath: string): { line: number; column: number } {
  let node: Node | undefined = resolve(piece.document, piece.node)
  let position = { line: piece.line, column: piece.column }
  for (const step of stepsOf(fieldPath)) {
    const found = node === undefined ? undefined : childOf(piece.document, node, step)
    if (found === undefined) return position
    position = startOf(lines, found.at)
    node = found.value
  }
  return position
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

/** A field from a merge key (`<<`). */
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

/** `spec.routes[/v1.0].x` is `spec`, `routes`, `/v1.0`, `x`, and so is `spec.routes["/v1.0"].x`. */
function stepsOf(fieldPath: string): readonly string[] {
  const steps: string[] = []
  for (const [, quoted, key, name] of fieldPath.matchAll(/\[("(?:[^"\\]|\\.)*")\]|\[(.*?)\](?=$|[.[])|([^.[]+)/g)) {
    steps.push(quoted === undefined ? (key ?? name ?? '') : (parseJson(quoted) as string))
  }
  return steps
}
