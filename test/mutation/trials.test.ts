import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Trials } from './trials.ts'

const file = join(import.meta.dirname, '../../src/base/byte-size.ts')
const text = readFileSync(file, 'utf8')
const tests = [file.replace('.ts', '.test.ts')]

const trials = new Trials()
afterAll(() => trials[Symbol.dispose]())

test('tests run with the text they are given, which the disk never sees', { timeout: 120_000 }, async () => {
  const failureOf = async (mutant: string, limitMs = 60_000) =>
    (await trials.run({ file, text: mutant, tests, limitMs })).failure?.text
  expect(await failureOf(text)).toBe(undefined)
  const mutant = text.replace('2 ** 10', '1023')
  expect(mutant).not.toBe(text)
  expect(await failureOf(mutant)).toMatch(/^src\/base\/byte-size\.test\.ts: parseByteSize\("/)
  expect(await failureOf('this is no program')).toBe('src/base/byte-size.test.ts')
  expect(await failureOf(text)).toBe(undefined)
  expect(await failureOf('while (true);', 500)).toBe('no end within 1 s')
  expect(await failureOf(text)).toBe(undefined)
})

test('a trial has a result of its own, whatever failed in earlier ones', { timeout: 120_000 }, async () => {
  const other = join(import.meta.dirname, '../../src/base/duration.test.ts')
  const limitMs = 60_000
  expect(await trials.run({ file, text: 'this is no program', tests, limitMs })).toEqual({
    failure: { text: 'src/base/byte-size.test.ts', test: tests[0] },
    ms: expect.any(Number),
  })
  const { failure, ms } = await trials.run({ file, text: 'this is no program', tests: [other], limitMs })
  expect(failure).toBe(undefined)
  expect(ms).toBeGreaterThan(0)
})
