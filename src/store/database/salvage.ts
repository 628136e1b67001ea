import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Resource, ResourceKey } from '../resources/resource.ts'
import { DatabaseUnusable } from './database-fault.ts'
import {
  COMPANIONS,
  connect,
  createDatabase,
  describeKey,
  firstValue,
  keyOfRow,
  openDatabase,
  readRow,
} from './open-database.ts'

/** The result of salvaging a database. */
export interface Salvaged {
  /** The damaged file under its new name; its log, if any, is beside it. */
  readonly keptAs: string
  /** Number of objects in the new database. */
  readonly objects: number
  /** Objects that could not be read, and whose names are known. There may be more. */
  readonly lost: readonly ResourceKey[]
}

/** Added to the highest revision that is found when the reserved one cannot be read. */
const UNKNOWN_REVISIONS = 1_000_000
/** Rows in a row that cannot be read until the search ends: those of one damaged page are far fewer. */
const MAX_UNREADABLE = 100_000
const PAGE_SIZE = 4096

/**
 * Replaces a damaged database by one with all objects that can be read in it. The damaged file keeps its content under another name.
 * @param now part of the new name of the damaged file
 * @returns undefined if the database is not damaged
 * @throws DatabaseUnusable for every other fault
 */
export function salvageDatabase(file: string, now: Date): Salvaged | undefined {
  if (!existsSync(file) || !isDamaged(file)) return undefined
  const copy = `${file}.salvage`
  removeDatabase(copy)
  try {
    for (const suffix of ['', ...COMPANIONS]) {
      if (existsSync(`${file}${suffix}`)) copyFileSync(`${file}${suffix}`, `${copy}${suffix}`)
    }
    const found = readDamaged(copy, `${file}.first-page`)
    const keptAs = `${file}.broken-${now.toISOString().replaceAll(/[:.]/g, '-')}`
    copyFileSync(file, keptAs)
    for (const suffix of COMPANIONS)
      if (existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${keptAs}${suffix}`)
    createDatabase(file, (database) => fill(database, found))
    return { keptAs, objects: found.objects.length, lost: found.lost }
  } finally {
    removeDatabase(copy)
  }
}

/** @throws DatabaseUnusable for every other fault */
function isDamaged(file: string): boolean {
  try {
    openDatabase(file).database.close()
    return false
  } catch (error) {
    if (error instanceof DatabaseUnusable && error.fault === 'broken') return true
    throw error
  }
}

interface Found {
  readonly objects: readonly { readonly key: ResourceKey; readonly object: Resource }[]
  readonly lost: readonly ResourceKey[]
  readonly revision: number
}

function fill(database: DatabaseSync, { objects, revision }: Found): void {
  const insert = database.prepare('INSERT INTO objects VALUES (?, ?, ?, ?)')
  for (const { key, object } of objects) insert.run(key.collection, key.namespace, key.name, JSON.stringify(object))
  database.prepare('UPDATE revisions SET reserved = ?').run(revision)
}

/** The first page names the tables. It is the same in each database of a format, so that of a new one can replace it. */
function readDamaged(copy: string, scratch: string): Found {
  const found = readRows(copy)
  if (found !== undefined) return found
  replaceFirstPage(copy, scratch)
  return readRows(copy) ?? { objects: [], lost: [], revision: UNKNOWN_REVISIONS }
}

function replaceFirstPage(copy: string, scratch: string): void {
  createDatabase(scratch, () => {})
  const page = Buffer.alloc(PAGE_SIZE)
  const source = openSync(scratch, 'r')
  const target = openSync(copy, 'r+')
  try {
    readSync(source, page, 0, PAGE_SIZE, 0)
    // The number of pages (sqlite.org, "Database File Format", 1.3.8).
    page.writeUInt32BE(Math.ceil(statSync(copy).size / PAGE_SIZE), 28)
    writeSync(target, page, 0, PAGE_SIZE, 0)
  } finally {
    closeSync(source)
    closeSync(target)
    removeDatabase(scratch)
  }
}

/** @returns undefined if not even the names of the tables can be read */
function readRows(copy: string): Found | undefined {
  const database = connect(copy)
  try {
    if (attempt(() => database.prepare('SELECT json FROM objects')) === undefined) return undefined
    const rows = [...eachRow(database)]
    const objects = rows.flatMap((row) => {
      const object = readRow(row)
      return object === undefined ? [] : [{ key: keyOfRow(row), object }]
    })
    const present = new Set(objects.map(({ key }) => describeKey(key)))
    const lost = [...rows.map(keyOfRow), ...eachName(database)].filter((key) => !present.has(describeKey(key)))
    const highest = Math.max(0, ...objects.map(({ object }) => Number(object.metadata.resourceVersion) || 0))
    const reserved = attempt(() => firstValue(database, 'SELECT reserved FROM revisions'))
    const revision = typeof reserved === 'number' && reserved >= highest ? reserved : highest + UNKNOWN_REVISIONS
    return { objects, lost: [...new Map(lost.map((key) => [describeKey(key), key])).values()], revision }
  } finally {
    database.close()
  }
}

type Row = Readonly<Record<string, unknown>>

/** A damaged page ends a search, so each row is searched for; a row on such a page costs one attempt for each of its numbers. */
function* eachRow(database: DatabaseSync): Generator<Row> {
  const next = database.prepare(
    'SELECT rowid AS id, collection, namespace, name, json FROM objects WHERE rowid >= ? ORDER BY rowid LIMIT 1',
  )
  let unreadable = 0
  for (let id = 1; unreadable < MAX_UNREADABLE; ) {
    const found = attempt(() => ({ row: next.get(id) as Row | undefined }))
    if (found === undefined) {
      unreadable += 1
      id += 1
      continue
    }
    if (found.row === undefined) return
    unreadable = 0
    yield found.row
    id = Number(found.row.id) + 1
  }
}

/** The names in the index of names, as far as it can be read: its pages are others than those of the objects. */
function* eachName(database: DatabaseSync): Generator<ResourceKey> {
  const rows = attempt(() =>
    database.prepare('SELECT collection, namespace, name FROM objects ORDER BY collection, namespace, name').iterate(),
  )
  for (let row = attempt(() => rows?.next()); row !== undefined && !row.done; row = attempt(() => rows?.next())) {
    yield keyOfRow(row.value)
  }
}

/** @returns undefined if SQLite reports damage */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function removeDatabase(file: string): void {
  for (const suffix of ['', ...COMPANIONS]) rmSync(`${file}${suffix}`, { force: true })
}
