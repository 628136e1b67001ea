import { execFileSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isPipe, openLog } from './open-log.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatewright-open-'))
  path = join(folder, 'log')
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a named pipe opens without a reader; lines wait in it, and a full one fails instead of waiting', () => {
  execFileSync('mkfifo', [path])
  const log = openLog(path)
  expect(isPipe(log)).toBe(true)
  writeSync(log, 'early\n')
  const reader = openSync(path, 'r')
  const bytes = Buffer.alloc(100)
  expect(bytes.toString('utf8', 0, readSync(reader, bytes))).toBe('early\n')
  closeSync(reader)
  writeSync(log, 'while the reader restarts\n')
  const fill = () => {
    for (;;) writeSync(log, 'x'.repeat(4096))
  }
  expect(fill).toThrow(/EAGAIN/)
  closeSync(log)
})

test('a file is created for its owner and readers, and appended to', () => {
  for (const text of ['one\n', 'two\n']) {
    const log = openLog(path)
    expect(isPipe(log)).toBe(false)
    writeSync(log, text)
    closeSync(log)
  }
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n')
  expect(statSync(path).mode & 0o777).toBe(0o666 & ~process.umask())
})

test('a folder, and a path through a file, cannot be opened', () => {
  mkdirSync(path)
  expect(() => openLog(path)).toThrow(/EISDIR/)
  expect(() => openLog(join(path, 'no', 'log'))).toThrow(/ENOENT/)
})

test('a descriptor that is not open is no pipe', () => {
  expect(isPipe(9999)).toBe(false)
})
