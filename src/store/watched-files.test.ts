import fs, { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FileStore } from './files.ts'

const { statSync } = fs
let looks: string[] = []

let directory = ''
let store: FileStore | undefined

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'watched-files-'))
  fs.statSync = ((path: string, options: object) => {
    looks.push(path)
    return statSync(path, options)
  }) as typeof statSync
  syncBuiltinESMExports()
})
afterEach(() => {
  fs.statSync = statSync
  syncBuiltinESMExports()
  store?.close()
  rmSync(directory, { recursive: true })
})

const path = (name: string) => join(directory, name)

function write(name: string, value: string): void {
  writeFileSync(path(name), `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${value}}\n`)
}

/** Settles when there are the ConfigMaps of these names. */
function until(...names: string[]): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      const there = store!.list().map(({ metadata }) => metadata.name)
      if (there.join() === names.join()) resolve()
    }
    store!.subscribe(look)
    look()
  })
}

function watch(): void {
  store = new FileStore([directory], { watch: true, quietMs: 1 })
  looks = []
}

test('an edit looks at the file that was edited, not at all of them', async () => {
  for (const name of ['a', 'b', 'c', 'd']) write(`${name}.yaml`, name)
  watch()
  write('c.yaml', 'edited')
  await until('a', 'b', 'edited', 'd')
  expect(new Set(looks)).toEqual(new Set([path('c.yaml')]))
})

test('a created, removed or replaced file counts as an edit', async () => {
  for (const name of ['a', 'b']) write(`${name}.yaml`, name)
  watch()
  write('c.yaml', 'new')
  await until('a', 'b', 'new')
  rmSync(path('a.yaml'))
  await until('b', 'new')
  write('b.tmp', 'replaced')
  renameSync(path('b.tmp'), path('b.yaml'))
  await until('replaced', 'new')
})

test('links are followed to their targets', async () => {
  mkdirSync(path('..first'))
  mkdirSync(path('..second'))
  write('..first/a.yaml', 'first')
  write('..second/a.yaml', 'second')
  symlinkSync('..first', path('..data'))
  symlinkSync('..data/a.yaml', path('a.yaml'))
  watch()
  await until('first')
  symlinkSync('..second', path('..new'))
  renameSync(path('..new'), path('..data'))
  await until('second')
  write('..second/a.yaml', 'edited')
  await until('edited')
})

test('a given file that is a link changes with its target, which is also read under its own name', async () => {
  write('a.yaml', 'first')
  symlinkSync('a.yaml', path('link'))
  store = new FileStore([path('a.yaml'), path('link')], { watch: true, quietMs: 1 })
  write('a.yaml', 'edited')
  await until('edited')
})

/** Two folders with a file each, and a link to the first one. */
function linkFolders(): void {
  for (const name of ['first', 'second']) {
    mkdirSync(path(`outside/${name}`), { recursive: true })
    write(`outside/${name}/a.yaml`, name)
  }
  symlinkSync('first', path('outside/current'))
}

/** Makes the link lead to another folder, in one step. */
function swapTo(folder: string): void {
  symlinkSync(folder, path('outside/new'))
  renameSync(path('outside/new'), path('outside/current'))
}

test('a given folder that is a link: a swap of the link counts, and so do edits, new files and new folders after it', async () => {
  linkFolders()
  store = new FileStore([path('outside/current')], { watch: true, quietMs: 1 })
  await until('first')
  swapTo('second')
  await until('second')
  write('outside/second/a.yaml', 'edited')
  await until('edited')
  mkdirSync(path('outside/second/more'))
  write('outside/second/more/b.yaml', 'new')
  await until('edited', 'new')
  swapTo('first')
  await until('first')
})

test.each([
  ['in a folder', 'outside/current/'],
  ['a file', 'outside/current/a.yaml'],
])('a link on the way to a given path counts (%s)', async (_, given) => {
  linkFolders()
  mkdirSync(path('way'))
  symlinkSync('../outside', path('way/to'))
  store = new FileStore([path(`way/to/${given.slice('outside/'.length)}`)], { watch: true, quietMs: 1 })
  swapTo('second')
  await until('second')
})

test('a link in a given folder that leads outside: swaps on its way and edits at its end count', async () => {
  linkFolders()
  mkdirSync(path('given'))
  symlinkSync('../outside/current/a.yaml', path('given/a.yaml'))
  store = new FileStore([path('given')], { watch: true, quietMs: 1 })
  swapTo('second')
  await until('second')
  write('outside/second/a.yaml', 'edited')
  await until('edited')
})

test('an edit that was read before it is reported is no second change', async () => {
  write('a.yaml', 'a')
  watch()
  write('a.yaml', 'edited')
  store!.reload()
  looks = []
  let calls = 0
  store!.subscribe(() => calls++)
  await vi.waitFor(() => expect(looks).toContain(path('a.yaml')))
  expect([calls, store!.list()[0]!.metadata.name]).toEqual([0, 'edited'])
})
