import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { LogFields } from '#observe/log/application-log.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { StateFolder, StateFolderUnusable } from './state-folder.ts'

const UNWRITTEN = 'the state folder cannot be written; state is kept in memory only'

function openFolder(path = join(temporaryFolder(), 'state'), required = false) {
  const lines: [level: string, message: string, fields: LogFields][] = []
  const folder = new StateFolder(path, required, (...line) => lines.push(line))
  return { path, folder, lines }
}

test('files belong to their owner alone, and are replaced as a whole', () => {
  const { path, folder, lines } = openFolder()
  folder.write('a.json', '{"a":1}')
  folder.write('a.json', '[]')
  expect(folder.read('a.json', JSON.parse)).toEqual([])
  expect([statSync(path).mode & 0o777, statSync(join(path, 'a.json')).mode & 0o777]).toEqual([0o700, 0o600])
  folder.remove('a.json')
  expect([folder.read('a.json', JSON.parse), lines]).toEqual([undefined, []])
})

/** Places where no folder can be, and why; the tests may run as root, whom no permission stops. */
const UNUSABLE = [
  [
    'a file',
    (path: string) => {
      writeFileSync(path, '')
      return path
    },
    'it is not a folder',
  ],
  [
    'below a file',
    (path: string) => {
      writeFileSync(path, '')
      return join(path, 'state')
    },
    'ENOTDIR: not a directory',
  ],
  ['on a file system that is read-only', () => '/proc/1/state', 'ENOENT: no such file or directory'],
] as const

test.each(UNUSABLE)('the path is %s: state remains in memory, with one line', (_, place, cause) => {
  const { path, folder, lines } = openFolder(place(join(temporaryFolder(), 'x')))
  folder.write('a.json', '{}')
  folder.remove('a.json')
  expect(folder.read('a.json', JSON.parse)).toBe(undefined)
  expect(lines).toEqual([['warn', UNWRITTEN, { folder: path, cause: expect.stringContaining(cause) }]])
})

test.each(UNUSABLE)('the path is %s, and the user named it: refused', (_, place, cause) => {
  const path = place(join(temporaryFolder(), 'x'))
  const open = () => openFolder(path, true)
  expect(open).toThrow(StateFolderUnusable)
  expect(open).toThrow(`the state folder ${path} cannot be used: ${cause}`)
})

test('a disk that is full is logged once, and so is its recovery', () => {
  const { path, folder, lines } = openFolder()
  folder.write('a.json', '{"a":1}')
  symlinkSync('/dev/full', join(path, 'a.json.new'))
  folder.write('a.json', '{"a":2}')
  folder.write('a.json', '{"a":3}')
  expect(readFileSync(join(path, 'a.json'), 'utf8'), 'the last good content').toBe('{"a":1}')
  rmSync(join(path, 'a.json.new'))
  folder.write('a.json', '{"a":4}')
  folder.write('a.json', '{"a":5}')
  expect(folder.read('a.json', JSON.parse)).toEqual({ a: 5 })
  expect(lines).toEqual([
    ['warn', UNWRITTEN, { folder: path, cause: 'ENOSPC: no space left on device, write' }],
    ['info', 'the state folder can be written again', { folder: path }],
  ])
})

test('a file that cannot be removed is logged', () => {
  const { path, folder, lines } = openFolder()
  mkdirSync(join(path, 'a.json'))
  folder.remove('a.json')
  expect(lines).toEqual([['warn', UNWRITTEN, { folder: path, cause: expect.stringContaining('is a directory') }]])
})

test('a folder that disappears while the gateway runs is made again', () => {
  const { path, folder, lines } = openFolder()
  rmSync(path, { recursive: true })
  folder.write('a.json', '{}')
  expect([existsSync(join(path, 'a.json')), lines]).toEqual([true, []])
})

test.each([
  ['a folder', (file: string) => mkdirSync(file), 'EISDIR: illegal operation on a directory, read'],
  ['cut short', (file: string) => writeFileSync(file, '{"a"'), /JSON/],
])('a file that is %s is logged and ignored', (_, make, cause) => {
  const { path, folder, lines } = openFolder()
  const file = join(path, 'a.json')
  make(file)
  expect(folder.read('a.json', JSON.parse)).toBe(undefined)
  expect(lines).toEqual([
    [
      'warn',
      'a state file cannot be read; the gateway continues without it',
      { file, cause: typeof cause === 'string' ? cause : expect.stringMatching(cause) },
    ],
  ])
})
