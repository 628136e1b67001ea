import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { salvageDatabase } from './salvage.ts'
import { configMap, configMapKey, openTable, valuesOf } from './testing.ts'

const NOW = new Date('2026-03-04T05:06:07Z')
const KEPT = 'objects.db.broken-2026-03-04T05-06-07-000Z'
const NAMES = Array.from({ length: 40 }, (_, at) => `a${at}`)

let folder: string
let file: string

beforeEach(() => {
  folder = temporaryFolder()
  file = join(folder, 'objects.db')
})

/** Forty objects of more than a page each. */
function fillDatabase(): number {
  const { table } = openTable(file)
  for (const name of NAMES) table.commit([configMap(name, name.repeat(2000))])
  const { revision } = table
  table.close()
  return revision
}

function overwrite(at: number, bytes: Buffer): void {
  const handle = openSync(file, 'r+')
  writeSync(handle, bytes, 0, bytes.length, at)
  closeSync(handle)
}

/** The page where the text of an object is. */
function pageOf(name: string): number {
  const at = readFileSync(file).indexOf(name.repeat(500))
  return at - (at % 4096)
}

function salvage() {
  const damaged = readFileSync(file)
  const result = salvageDatabase(file, NOW)
  expect(readFileSync(join(folder, KEPT)).equals(damaged)).toBe(true)
  expect(result?.keptAs).toBe(join(folder, KEPT))
  const { table } = openTable(file)
  const values = valuesOf(table)
  table.close()
  for (const [name, value] of Object.entries(values)) expect(value).toBe(name.repeat(2000))
  return { ...result!, names: Object.keys(values), revision: table.revision }
}

test('one damaged page costs the object on it, which is named', () => {
  const last = fillDatabase()
  overwrite(pageOf('a17'), Buffer.alloc(4096))
  const { objects, names, lost, revision } = salvage()
  expect(lost).toEqual([configMapKey('a17')])
  expect([objects, names.toSorted()]).toEqual([39, NAMES.filter((name) => name !== 'a17').toSorted()])
  expect(revision).toBeGreaterThanOrEqual(last)
  expect(readdirSync(folder).toSorted()).toEqual(['objects.db', KEPT])
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('all objects survive the loss of the first page, which names the tables', () => {
  const last = fillDatabase()
  overwrite(0, Buffer.alloc(4096))
  const { names, lost, revision } = salvage()
  expect([names.toSorted(), lost]).toEqual([NAMES.toSorted(), []])
  expect(revision).toBeGreaterThanOrEqual(last)
})

test('an object that is no JSON is lost, and named', () => {
  fillDatabase()
  const database = new DatabaseSync(file)
  database.exec(`UPDATE objects SET json = '{"metadata":' WHERE name = 'a5'`)
  database.close()
  expect(salvage().lost).toEqual([configMapKey('a5')])
})

test('of a file that is cut off, the beginning is read', () => {
  fillDatabase()
  truncateSync(file, Math.floor(statSync(file).size / 2 / 4096) * 4096)
  const { names, lost } = salvage()
  expect(names.length).toBeGreaterThan(10)
  expect(names.length).toBeLessThan(30)
  expect([...names, ...lost.map(({ name }) => name)].length).toBeLessThanOrEqual(40)
})

test('a file without anything readable is kept beside an empty database', () => {
  writeFileSync(file, 'this is the text of a letter\n'.repeat(500))
  expect(salvage()).toMatchObject({ objects: 0, lost: [], names: [] })
})

test('a database without damage is left alone, also one that is in use', () => {
  fillDatabase()
  const before = readFileSync(file)
  expect(salvageDatabase(file, NOW)).toBeUndefined()
  expect(readFileSync(file).equals(before)).toBe(true)
  expect(salvageDatabase(join(folder, 'other.db'), NOW)).toBeUndefined()
  const { table } = openTable(file)
  expect(() => salvageDatabase(file, NOW)).toThrow('another process uses')
  table.close()
})
