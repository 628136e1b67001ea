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
    const named = source.pieces.filter((candidate) => hasName(candidate, origin))
    const same = named.filter(({ value }) => (value as { kind?: unknown }).kind === origin.kind)
    const atLine = ({ line }: Piece): boolean => line === origin.line
    const piece = same.find(atLine) ?? same[0] ?? named.find(atLine)
    return piece === undefined ? undefined : { file, ...positionOf(source.lines, piece, fieldPath) }
  }
}

/** Lines only tell duplicates apart, and find an object whose kind is misspelt: the object in use may be older than the text. */
function hasName({ value }: Piece, origin: Origin): boolean {
  const { metadata } = (value ?? {}) as { metadata?: Record<string, unknown> | null }
  if (metadata?.name !== origin.name) return false
  return findKind(origin.kind)?.namespaced === false || (metadata.namespace ?? 'default') === origin.namespace
}
