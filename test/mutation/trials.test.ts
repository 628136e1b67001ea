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
  const failureOf = (mutant: string, limitMs = 60_000) => trials.run({ file, text: mutant, tests }, limitMs)
  expect(await failureOf(text)).toBe(undefined)
  const mutant = text.replace('2 ** 10', '1023')
  expect(mutant).not.toBe(text)
  expect(await failureOf(mutant)).toMatch(/^src\/base\/byte-size\.test\.ts: parseByteSize\("/)
  expect(await failureOf('this is no program')).toBe('src/base/byte-size.test.ts')
  expect(await failureOf(text)).toBe(undefined)
  expect(await failureOf('while (true);', 2000)).toBe('no end within 2 s')
  expect(await failureOf(text)).toBe(undefined)
})
