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
  expect(['a.b', 'a/b', 'a_b', 'a.b', ''].map((id) => names.id(id))).toEqual(['a_b', 'a_b_2', 'a_b_3', 'a_b', 'call'])
})

test('ids are at most 40 characters', () => {
  const names = new TargetNames([])
  const ids = ['x'.repeat(60), `${'x'.repeat(60)}y`]
  expect(ids.map((id) => names.id(id))).toEqual(['x'.repeat(40), `${'x'.repeat(38)}_2`])
})

test('twenty thousand names and ids that become equal are told apart in linear time', () => {
  const names = new TargetNames([])
  const given = Array.from({ length: 20_000 }, (_, index) => String.fromCodePoint(0x4e00 + index))
  expect(new Set(given.map((name) => names.name(name))).size).toBe(20_000)
  expect(new Set(given.map((id) => names.id(id))).size).toBe(20_000)
  expect([names.name(given[19_999]!), names.id(given[19_999]!)]).toEqual(['__20000', '__20000'])
})
