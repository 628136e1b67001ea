import type { Expression, ExpressionEnvironment } from '#exchange/expression.ts'
import { decides, readsPath } from '#exchange/path-reads.ts'
import { foldName } from '#net/http/same-name.ts'

/** An expression that decides about requests. */
export interface Reader {
  /** Location of the expression, for operators. */
  readonly where: string
  readonly readsPath: boolean
  /** Names of the fields that it reads, folded (`foldName`); `all` if only an evaluation determines them. */
  readonly fields: ReadonlySet<string> | 'all'
  /** It sees the trailers of the request, too. */
  readonly seesTrailers: boolean
}

/** @returns undefined for an expression that only observes */
export function readerOf(
  expression: Expression,
  environment: ExpressionEnvironment,
  where: string,
): Reader | undefined {
  if (!decides(environment)) return undefined
  const { requestFields } = expression
  const fields = requestFields === 'all' ? requestFields : new Set([...requestFields].map(foldName))
  return { where, readsPath: readsPath(expression), fields, seesTrailers: false }
}

/** The location of the first expression that reads the path of a request (decision A-51). */
export function readerOfPath(readers: readonly Reader[]): string | undefined {
  return readers.find(({ readsPath }) => readsPath)?.where
}

/** Whether something reads a field only in the head, so that it must not be in the trailers. */
export function isReadInHead(readers: readonly Reader[], foldedName: string): boolean {
  return readers.some(({ fields, seesTrailers }) => !seesTrailers && (fields === 'all' || fields.has(foldedName)))
}

/** The location of the first expression that reads a field of a request (decision A-94). */
export function readerOfField(readers: readonly Reader[], foldedName: string): string | undefined {
  return readers.find(({ fields }) => fields === 'all' || fields.has(foldedName))?.where
}
