import { EventEmitter } from 'node:events'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Touched, type Watch, watchPaths } from './watch-paths.ts'

class FakeWatcher extends EventEmitter {
  close(): void {}
}

const { watch } = fs
const FOLDER = import.meta.dirname
let watchers: [folder: string, watcher: FakeWatcher][] = []
let watched: Watch
let reported: Touched[] = []

beforeEach(() => {
  watchers = []
  reported = []
  fs.watch = ((folder: string) => {
    const watcher = new FakeWatcher()
    watchers.push([folder, watcher])
    return watcher
  }) as unknown as typeof watch
  syncBuiltinESMExports()
  watched = watchPaths([FOLDER], (touched) => reported.push(touched), { quietMs: 0, pollMs: 1 })
})
afterEach(() => {
  watched.close()
  fs.watch = watch
  syncBuiltinESMExports()
})

const SECRET = '/nowhere/secret'

test('a followed folder is watched once, and its users are reported when that begins', async () => {
  for (const users of [['a'], ['b']]) watched.follow(new Map([[SECRET, users]]))
  expect(watchers.map(([folder]) => folder)).toEqual([FOLDER, '/nowhere'])
  await vi.waitFor(() => expect(reported).toEqual([new Set(['a'])]))
})

test.each([0, 1])('after an error of watcher %i, changes are assumed at regular intervals', async (index) => {
  watched.follow(new Map([[SECRET, ['a']]]))
  await vi.waitFor(() => expect(reported).toHaveLength(1))
  watchers[index]![1].emit('error', new Error('gone'))
  await vi.waitFor(() => expect(reported.slice(1, 3)).toEqual([undefined, undefined]))
})
