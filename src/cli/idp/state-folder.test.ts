import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ProviderStateUnusable } from '#idp/provider/provider-state.ts'
import { StateFolder } from './state-folder.ts'

const FILE = 'idp.json'
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'state-folder-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const modeOf = (path: string) => statSync(path).mode & 0o777

test('a file is replaced as a whole, and only its owner can read it', () => {
  const state = join(folder, 'state')
  const files = new StateFolder(state)
  expect(files.read(FILE)).toBe(undefined)
  files.write(FILE, 'one')
  files.write(FILE, 'two \u00e9\u{1f600}')
  expect(new StateFolder(state).read(FILE)).toBe('two \u00e9\u{1f600}')
  expect([modeOf(state), modeOf(join(state, FILE)), readdirSync(state)]).toEqual([0o700, 0o600, [FILE]])
})

test('a file that a write left behind, or that somebody else put there, is not written to', () => {
  const other = join(folder, 'other')
  writeFileSync(other, 'mine')
  symlinkSync(other, join(folder, `${FILE}.new`))
  const files = new StateFolder(folder)
  files.write(FILE, 'secret')
  expect([readFileSync(other, 'utf8'), files.read(FILE)]).toEqual(['mine', 'secret'])
  writeFileSync(join(folder, `${FILE}.new`), 'half')
  chmodSync(join(folder, `${FILE}.new`), 0o666)
  files.write(FILE, 'secret 2')
  expect([modeOf(join(folder, FILE)), files.read(FILE)]).toEqual([0o600, 'secret 2'])
})

test('two processes cannot write one file', () => {
  const [first, second] = [new StateFolder(folder), new StateFolder(folder)]
  first.read(FILE)
  second.read(FILE)
  first.write(FILE, 'of the first')
  expect(() => second.write(FILE, 'of the second')).toThrow('each provider needs its own --state')
  first.write(FILE, 'of the first, again')
  expect(second.read(FILE)).toBe('of the first, again')
  second.write(FILE, 'of the second')
  expect(() => first.write(FILE, 'lost')).toThrow(ProviderStateUnusable)
})

test('a folder that is a file is refused', () => {
  writeFileSync(join(folder, 'file'), '')
  const files = new StateFolder(join(folder, 'file'))
  expect(() => files.read(FILE)).toThrow(ProviderStateUnusable)
  expect(() => files.write(FILE, 'x')).toThrow(ProviderStateUnusable)
})
