import { expect } from 'vitest'
import { findKind, type KindName } from '#api/kinds.ts'
import type { FindingCode } from '#base/findings.ts'
import { fieldPath, itemPath, validate } from '#schema/index.ts'

/** Assertions about one field of a kind; every member is optional. */
export interface FieldClaim {
  /** Valid values. */
  readonly good?: readonly unknown[]
  /** Values that are refused at the path of the field, by code. */
  readonly bad?: { readonly [C in FindingCode]?: readonly unknown[] }
  /** An object without the field is refused with `required` at its path. */
  readonly required?: true
  /** An object without the field is valid; with `default`, the field then has that value. */
  readonly optional?: true
  readonly default?: unknown
}

export interface Field {
  is(claim: FieldClaim): void
}

const HOLE = Symbol('the field under test')

/**
 * Selects a field of a kind by an object with a placeholder: `fieldOf('ProxyPolicy', (x) => ({ spec: { ...x... } }))`. The path of the
 * field is the position of the placeholder.
 */
export function fieldOf(kind: KindName, withHole: (hole: unknown) => object): Field {
  const path = pathOfHole(withHole(HOLE), '')
  if (path === undefined) throw new Error('the object has no hole')
  const judge = (value: unknown) => validate(findKind(kind)!.schema, withoutUndefined(complete(kind, withHole(value))))
  return {
    is({ good = [], bad = {}, required, optional, default: filled }) {
      for (const value of good) expect(judge(value).problems, `with ${show(value)}`).toEqual([])
      for (const [code, values] of Object.entries(bad)) {
        for (const value of values) {
          const found = judge(value).problems.map((each) => ({ path: each.path, code: each.code }))
          expect(found, `with ${show(value)}`).toContainEqual({ path, code })
        }
      }
      const absent = judge(undefined)
      if (required) expect(absent.problems).toContainEqual(expect.objectContaining({ path, code: 'required' }))
      if (optional || filled !== undefined) expect(absent.problems).toEqual([])
      if (filled !== undefined) expect(valueAt(absent.value, path)).toEqual(filled)
    },
  }
}

/** An object with its envelope. */
export function complete(kind: KindName, members: object): object {
  const { group, versions } = findKind(kind)!
  const apiVersion = group === '' ? versions[0] : `${group}/${versions[0]}`
  return { apiVersion, kind, metadata: { name: 'under-test' }, ...members }
}

/** `n(3, (i) => i)` is `[0, 1, 2]`. */
export function n<T>(count: number, item: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => item(index))
}

function pathOfHole(value: unknown, path: string): string | undefined {
  if (value === HOLE) return path
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    const isField = /^[A-Za-z]\w*$/.test(key)
    const found = pathOfHole(member, isField ? fieldPath(path, key) : itemPath(path, key))
    if (found !== undefined) return found
  }
  return undefined
}

function withoutUndefined(value: object): unknown {
  return JSON.parse(JSON.stringify(value))
}

function valueAt(value: unknown, path: string): unknown {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '')
  return steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], value)
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 80 ? `${text.slice(0, 80)}...` : text
}
