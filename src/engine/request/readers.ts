import type { Expression, ExpressionEnvironment } from '#exchange/expression.ts'
import { decides, readsPath } from '#exchange/path-reads.ts'
import { foldName } from '#net/http/head.ts'

/** An expression by which something is decided about requests. */
export interface Reader {
  /** The expression, in words. */
  readonly where: string
  readonly readsPath: boolean
  /** Names of the fields that it reads, folded (`foldName`); `all` when only an evaluation knows them. */
  readonly fields: ReadonlySet<string> | 'all'
}

/** @returns undefined for an expression by which nothing is decided */
export function readerOf(expression: Expression, place: ExpressionEnvironment, where: string): Reader | undefined {
  if (!decides(place)) return undefined
  const { requestFields } = expression
  const fields = requestFields === 'all' ? requestFields : new Set([...requestFields].map(foldName))
  return { where, readsPath: readsPath(expression), fields }
}

/** The first that reads the path of a request, in words (decision A-51). */
export function readerOfPath(readers: readonly Reader[]): string | undefined {
  return readers.find(({ readsPath }) => readsPath)?.where
}

/** The first that reads a field of a request, in words (decision A-94). */
export function readerOfField(readers: readonly Reader[], foldedName: string): string | undefined {
  return readers.find(({ fields }) => fields === 'all' || fields.has(foldedName))?.where
}
