import { expect, test } from 'vitest'
import { PROTOBUF_FILES, runAll } from './suite.ts'

const outcomes = runAll()

test('the language: every test of the official data passes', () => {
  const failures = outcomes.filter(({ file, failure }) => failure !== undefined && !PROTOBUF_FILES.has(file))
  expect(failures).toEqual([])
})

test('protobuf messages: every test of the official data passes', () => {
  const failures = outcomes.filter(({ file, failure }) => failure !== undefined && PROTOBUF_FILES.has(file))
  expect(failures).toEqual([])
})

test('the data is there', () => {
  expect(outcomes.length).toBe(2765)
})
