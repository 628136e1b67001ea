import { findKind } from '#api/kinds.ts'
import type { Origin } from '#base/origin.ts'
import type { FilePosition } from './file-problem.ts'
import { type Piece, positionOf, readPieces, type YamlPieces } from './yaml-pieces.ts'

/**
 * Finds fields of objects in their source text, for problems that are found after parsing: an invalid expression, a missing reference.
 * Parses a file again on demand; the last one is cached, because lookups are grouped by file.
 */
export class FieldLocator {
  readonly #textOf: (file: string) => string | undefined
  #last: { readonly text: string; readonly source: YamlPieces } | undefined

  constructor(textOf: (file: string) => string | undefined) {
    this.#textOf = textOf
  }

  /** Undefined for objects that are not from a file, or no longer in it. */
  locate(origin: Origin, fieldPath: string): FilePosition | undefined {
    const { file } = origin
    const text = file === undefined ? undefined : this.#textOf(file)
    if (file === undefined || text === undefined) return undefined
    if (this.#last?.text !== text) this.#last = { text, source: readPieces(text) }
    const { source } = this.#last
    const same = source.pieces.filter((candidate) => isObject(candidate, origin))
    const piece = same.find(({ line }) => line === origin.line) ?? same[0]
    return piece === undefined ? undefined : { file, ...positionOf(source.lines, piece, fieldPath) }
  }
}

/** Compares identity, not lines, which only tell duplicates apart: the object in use may be older than the text. */
function isObject({ value }: Piece, origin: Origin): boolean {
  const { kind, metadata } = (value ?? {}) as { kind?: unknown; metadata?: Record<string, unknown> | null }
  if (kind !== origin.kind || metadata?.name !== origin.name) return false
  return findKind(origin.kind)?.namespaced === false || (metadata.namespace ?? 'default') === origin.namespace
}
