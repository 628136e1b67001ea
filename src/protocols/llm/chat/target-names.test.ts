import { expect, test } from 'vitest'
import { TargetNames } from './target-names.ts'

test('accepted names stay; others are altered, stay distinct, and are given back', () => {
  const names = new TargetNames(['get.weather', 'get_weather', '', 'x'.repeat(70), `${'x'.repeat(64)}y`])
  const given = ['get.weather', 'get/weather', 'get_weather', '', 'tool', 'é', 'x'.repeat(70), `${'x'.repeat(64)}y`]
  const sent = given.map((name) => names.name(name))
  expect(sent).toEqual([
    'get_weather_2',
    'get_weather_3',
    'get_weather',
    'tool',
    'tool_2',
    '_',
    'x'.repeat(64),
    `${'x'.repeat(62)}_2`,
  ])
  expect(sent.map((name) => names.given(name))).toEqual(given)
  expect(given.map((name) => names.name(name))).toEqual(sent)
})

test('a name that only the model knows stays', () => {
  expect(new TargetNames([]).given('invented')).toBe('invented')
})

test('an id is the same for a call and its result, and distinct from others', () => {
  const names = new TargetNames([])
  const given = ['a.b', 'a/b', 'a_b', '']
  const sent = ['a_b', 'a_b_2', 'a_b_3', 'call']
  expect(given.map((id) => names.callId(id))).toEqual(sent)
  expect(given.map((id) => names.resultId(id))).toEqual(sent)
})

test('calls with the same id, in one turn or in several, are told apart, and their results follow in their order', () => {
  const names = new TargetNames([])
  const turn = (calls: readonly string[]) => [
    ...calls.map((id) => names.callId(id)),
    ...calls.map((id) => names.resultId(id)),
  ]
  expect(turn(['c', 'd'])).toEqual(['c', 'd', 'c', 'd'])
  expect(turn(['c', 'c'])).toEqual(['c_2', 'c_3', 'c_2', 'c_3'])
  expect(turn(['c'])).toEqual(['c_4', 'c_4'])
  // A second result of the same call.
  expect(names.resultId('c')).toBe('c_4')
})

test('a target that takes any id gets it as it was', () => {
  const names = new TargetNames([], true)
  expect(['functions.f:0', 'functions.f:0', 'x'.repeat(41)].map((id) => names.callId(id))).toEqual([
    'functions.f:0',
    'functions.f:0_2',
    'x'.repeat(40),
  ])
})

test('a result without a call keeps its id', () => {
  const names = new TargetNames([])
  expect([names.resultId('c'), names.resultId('a.b'), names.callId('a/b')]).toEqual(['c', 'a_b', 'a_b_2'])
})

test('ids are at most 40 characters', () => {
  const names = new TargetNames([])
  const ids = ['x'.repeat(60), `${'x'.repeat(60)}y`]
  expect(ids.map((id) => names.callId(id))).toEqual(['x'.repeat(40), `${'x'.repeat(38)}_2`])
})

test('twenty thousand names and ids that become equal are told apart in linear time', () => {
  const names = new TargetNames([])
  const given = Array.from({ length: 20_000 }, (_, index) => String.fromCodePoint(0x4e00 + index))
  expect(new Set(given.map((name) => names.name(name))).size).toBe(20_000)
  expect(new Set(given.map((id) => names.callId(id))).size).toBe(20_000)
  expect([names.name(given[19_999]!), names.resultId(given[19_999]!)]).toEqual(['__20000', '__20000'])
})

test('twenty thousand calls with the same id are told apart in linear time', () => {
  const names = new TargetNames([])
  const given = Array<string>(20_000).fill('c')
  const sent = given.map((id) => names.callId(id))
  expect(new Set(sent).size).toBe(20_000)
  expect(given.map((id) => names.resultId(id))).toEqual(sent)
})

test('no cut leaves half of a character', () => {
  const names = new TargetNames([], true)
  const given = `${'a'.repeat(39)}\u{1f600}`
  expect(names.callId(given)).toBe(`${'a'.repeat(39)}\ufffd`)
  expect(names.resultId(given)).toBe(`${'a'.repeat(39)}\ufffd`)
  const long = `${'b'.repeat(37)}\u{1f600}c`
  expect([names.callId(long), names.callId(long)]).toEqual([long, `${'b'.repeat(37)}\ufffd_2`])
  expect(names.callId('\ud800')).toBe('\ufffd')
})
