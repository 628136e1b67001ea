import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { LogFile } from './log-file.ts'

let folder: string
let path: string
let nowMs: number

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatewright-log-'))
  path = join(folder, 'log')
  nowMs = 0
  vi.spyOn(clock, 'monotonic').mockImplementation(() => nowMs)
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

const write = (file: LogFile, text: string) => void writeSync(file.descriptor, text)

test('it appends to the existing file', () => {
  appendFileSync(path, 'before\n')
  const file = new LogFile(path)
  write(file, 'one\n')
  expect(readFileSync(path, 'utf8')).toBe('before\none\n')
  file.close()
})

test.each([
  ['renamed', () => renameSync(path, `${path}.1`)],
  ['removed', () => rmSync(path)],
  [
    'replaced',
    () => {
      renameSync(path, `${path}.1`)
      appendFileSync(path, '')
    },
  ],
])('a file that was %s is created again within a second', (_, rotate) => {
  const file = new LogFile(path)
  write(file, 'one\n')
  rotate()
  nowMs = 999
  expect(file.follow(), 'not looked at yet').toBe(false)
  nowMs = 1000
  expect(file.follow()).toBe(true)
  expect(file.follow()).toBe(false)
  write(file, 'two\n')
  expect(readFileSync(path, 'utf8')).toBe('two\n')
  file.close()
})

test('a file that was emptied in place stays, and is written from its beginning', () => {
  const file = new LogFile(path)
  write(file, 'one\n')
  truncateSync(path)
  nowMs = 5000
  expect(file.follow()).toBe(false)
  write(file, 'two\n')
  expect(readFileSync(path, 'utf8')).toBe('two\n')
  file.close()
})

test('it is reopened on request', () => {
  const file = new LogFile(path)
  renameSync(path, `${path}.1`)
  file.reopen()
  expect(file.follow()).toBe(true)
  write(file, 'two\n')
  expect(readFileSync(path, 'utf8')).toBe('two\n')
  file.close()
})

test('a path that cannot be opened: the previous file stays in use, and each check reports it', () => {
  const file = new LogFile(path)
  renameSync(path, `${path}.1`)
  mkdirSync(path)
  nowMs = 1000
  for (let i = 0; i < 2; i++) expect(() => file.follow()).toThrow(/EISDIR/)
  write(file, 'still\n')
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('still\n')
  rmSync(path, { recursive: true })
  expect(file.follow()).toBe(true)
  file.close()
})

test('a path that cannot be opened at all', () => {
  expect(() => new LogFile(join(folder, 'no', 'such', 'folder'))).toThrow(/ENOENT/)
})
