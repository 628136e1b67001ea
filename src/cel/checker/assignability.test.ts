import { expect, test } from 'vitest'
import {
  BOOL,
  DYN,
  formatType,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  type Type,
  typeOf,
  wrapperOf,
} from '../type.ts'
import { assignAll, moreGeneral, Substitution } from './assignability.ts'

const A: Type = { kind: 'param', name: 'A' }
const B: Type = { kind: 'param', name: 'B' }

test.each<[general: Type, other: Type]>([
  [DYN, INT],
  [A, INT],
  [wrapperOf(INT), INT],
  [wrapperOf(INT), NULL],
  [listOf(DYN), listOf(INT)],
  [mapOf(DYN, INT), mapOf(STRING, INT)],
  [mapOf(STRING, DYN), mapOf(STRING, INT)],
  [mapOf(DYN, DYN), mapOf(STRING, INT)],
  [typeOf(DYN), typeOf(INT)],
  [optionalOf(DYN), optionalOf(INT)],
])('%o is more general than %o', (general, other) => {
  expect(moreGeneral(general, other)).toBe(general)
  if (general.kind !== 'type') expect(moreGeneral(other, general)).toBe(general)
})

/** Assigns each type of `from` to that of `to` in turn. @returns what A is then; undefined: they do not fit */
function bindingOfA(from: readonly Type[], to: readonly Type[]): string | undefined {
  const substitution = new Substitution()
  return assignAll(substitution, from, to) ? formatType(substitution.apply(A)) : undefined
}

test.each<[from: readonly Type[], to: readonly Type[], a: string | undefined]>([
  [[INT], [A], 'int'],
  [[INT, INT], [A, A], 'int'],
  [[INT, DYN], [A, A], 'dyn'],
  [[INT, STRING], [A, A], undefined],
  [[INT], [A, A], undefined],
  [[listOf(INT)], [listOf(A)], 'int'],
  [[mapOf(STRING, INT)], [mapOf(STRING, A)], 'int'],
  [[mapOf(STRING, INT)], [mapOf(INT, A)], undefined],
  [[optionalOf(INT)], [optionalOf(A)], 'int'],
  [[NULL, wrapperOf(INT)], [A, A], 'wrapper(int)'],
  [[optionalOf(INT)], [{ kind: 'opaque', name: 'other', params: [A] }], undefined],
  [[optionalOf(INT)], [{ kind: 'opaque', name: 'optional_type', params: [A, A] }], undefined],
  // A binding that would contain its own parameter fails.
  [[listOf(A)], [A], undefined],
  [[mapOf(A, INT)], [A], undefined],
  [[mapOf(INT, A)], [A], undefined],
  [[typeOf(A)], [A], undefined],
  [[optionalOf(A)], [A], undefined],
  [[listOf(A), B], [B, A], undefined],
  [[A], [A], 'A'],
])('assigning %o to %o binds A to %s', (from, to, a) => {
  expect(bindingOfA(from, to)).toBe(a)
})

test('types that do not fit leave all bindings as they were', () => {
  const substitution = new Substitution()
  substitution.bind('A', BOOL)
  expect(assignAll(substitution, [INT, STRING], [B, INT])).toBe(false)
  expect([substitution.find('A'), substitution.find('B')]).toEqual([BOOL, undefined])
})
