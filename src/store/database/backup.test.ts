import { chownSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { backUpDatabase, restoreDatabase } from './backup.ts'
import { configMap, openTable, valuesOf } from './testing.ts'

const NOW = new Date('2026-03-04T05:06:07Z')

let folder: string
let file: string
let copy: string

beforeEach(() => {
  folder = temporaryFolder()
  mkdirSync(join(folder, 'state'))
  file = join(folder, 'state', 'objects.db')
  copy = join(folder, 'copy.db')
})

function contentOf(database: string) {
  const { table } = openTable(database)
  const content = { values: valuesOf(table), revision: table.revision }
  table.close()
  return content
}

test('the copy of a database in use has what was committed, can be restored, and is readable only by its owner', () => {
  const { table } = openTable(file)
  for (const name of ['a', 'b', 'c']) table.commit([configMap(name, name)])
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0)
  expect(backUpDatabase(file, copy)).toBe(3)
  expect(readdirSync(folder).sort()).toEqual(['copy.db', 'state'])
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  table.commit([configMap('d', 'after the backup')])
  const { revision } = table
  table.close()

  expect(restoreDatabase(copy, file, NOW)).toEqual({
    objects: 3,
    keptAs: `${file}.replaced-2026-03-04T05-06-07-000Z`,
  })
  const restored = contentOf(file)
  expect(restored.values).toEqual({ a: 'a', b: 'b', c: 'c' })
  expect(restored.revision).toBeGreaterThan(revision)
  expect(contentOf(`${file}.replaced-2026-03-04T05-06-07-000Z`).values).toHaveProperty('d')
})

test('a checkpoint while the files are read makes the copy start again', () => {
  const { table } = openTable(file)
  table.commit([configMap('a', 'one')])
  let reads = 0
  const read = (path: string) => {
    const bytes = readFileSync(path)
    reads += 1
    // After the first copy of the database, and before that of its log.
    if (reads === 1) for (let at = 0; at < 30; at++) table.commit([configMap(`big${at}`, `${at}`.padEnd(300_000, 'x'))])
    return bytes
  }
  expect(backUpDatabase(file, copy, read)).toBe(31)
  expect(reads).toBeGreaterThan(3)
  table.close()
})

test('a database that changes during every copy is not copied', () => {
  let reads = 0
  const read = () => Buffer.from(`${reads++}`)
  expect(() => backUpDatabase(file, copy, read)).toThrow('it changed during each of 50 copies; try again')
  expect(readdirSync(folder)).toEqual(['state'])
})

test('a database that a gateway uses is not replaced', () => {
  const { table } = openTable(file)
  table.commit([configMap('a', 'one')])
  backUpDatabase(file, copy)
  expect(() => restoreDatabase(copy, file, NOW)).toThrow('another process uses')
  table.commit([configMap('b', 'two')])
  table.close()
  expect(contentOf(file).values).toEqual({ a: 'one', b: 'two' })
})

test('a damaged copy replaces nothing, and a copy replaces a damaged or missing database', () => {
  const { table } = openTable(file)
  table.commit([configMap('a', 'one')])
  table.close()
  backUpDatabase(file, copy)
  const broken = join(folder, 'broken.db')
  writeFileSync(broken, readFileSync(copy))
  truncateSync(broken, 5000)
  expect(() => restoreDatabase(broken, file, NOW)).toThrow(`${broken} is damaged`)
  expect(contentOf(file).values).toEqual({ a: 'one' })

  truncateSync(file, 5000)
  expect(() => backUpDatabase(file, join(folder, 'other.db'))).toThrow(`${file} is damaged`)
  restoreDatabase(copy, file, NOW)
  expect(contentOf(file).values).toEqual({ a: 'one' })

  rmSync(file)
  expect(restoreDatabase(copy, file, NOW)).toEqual({ objects: 1, keptAs: undefined })
})

test('a restored database belongs to the owner of its folder', () => {
  openTable(file).table.close()
  backUpDatabase(file, copy)
  // Only root can test another one.
  const own = process.getuid!()
  const owner = own === 0 ? 10_101 : own
  chownSync(join(folder, 'state'), owner, process.getgid!())
  restoreDatabase(copy, file, NOW)
  expect(statSync(file).uid).toBe(owner)
})

test('a database is restored into a folder that does not exist, and a missing copy makes none', () => {
  openTable(file).table.close()
  backUpDatabase(file, copy)
  const elsewhere = join(folder, 'new')
  expect(() => restoreDatabase(join(folder, 'missing.db'), join(elsewhere, 'objects.db'), NOW)).toThrow('ENOENT')
  expect(readdirSync(folder)).not.toContain('new')
  expect(restoreDatabase(copy, join(elsewhere, 'objects.db'), NOW)).toEqual({ objects: 0, keptAs: undefined })
  expect(statSync(elsewhere).mode & 0o777).toBe(0o700)
})
