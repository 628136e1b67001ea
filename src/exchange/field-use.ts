import { foldName } from '#net/http/head.ts'
import type { Expression } from './expression.ts'

/** Fields of a request and its response that a policy has to do with, by folded name (`foldName`). */
export interface FieldUse {
  /** Of the request, what it goes by; `all` when only an evaluation knows. */
  readonly reads: ReadonlySet<string> | 'all'
  /** What it sets or removes. */
  readonly writes: Readonly<Record<'request' | 'response', ReadonlySet<string>>>
}

export interface FieldUseParts {
  /** What they read of the request counts. */
  readonly expressions?: Iterable<Expression | undefined>
  /** Names as they are written. */
  readonly reads?: readonly string[]
  readonly request?: readonly string[]
  readonly response?: readonly string[]
}

export function fieldUse({ expressions = [], reads = [], request = [], response = [] }: FieldUseParts): FieldUse {
  return {
    reads: readsOf([reads, ...[...expressions].map((expression) => expression?.requestFields ?? [])]),
    writes: { request: namesIn([request]), response: namesIn([response]) },
  }
}

/** All of them together. */
export function joinFieldUse(uses: readonly FieldUse[]): FieldUse {
  return {
    reads: readsOf(uses.map(({ reads }) => reads)),
    writes: {
      request: namesIn(uses.map(({ writes }) => writes.request)),
      response: namesIn(uses.map(({ writes }) => writes.response)),
    },
  }
}

/** Whether something would be another if the request came without the field. */
export function usesRequestField({ reads, writes }: FieldUse, foldedName: string): boolean {
  return reads === 'all' || reads.has(foldedName) || writes.request.has(foldedName)
}

function readsOf(lists: readonly (Iterable<string> | 'all')[]): ReadonlySet<string> | 'all' {
  const known = lists.filter((list) => list !== 'all')
  return known.length < lists.length ? 'all' : namesIn(known)
}

function namesIn(lists: readonly Iterable<string>[]): ReadonlySet<string> {
  return new Set(lists.flatMap((list) => [...list].map(foldName)))
}
