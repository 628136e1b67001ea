import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { parseJson } from '#base/parse-json.ts'
import type { Resource, ResourceKey } from '../resources/resource.ts'
import type { TableContent } from '../resources/resource-table.ts'
import { DatabaseUnusable, detailOf, faultOf } from './database-fault.ts'

/** In the state folder. */
export const DATABASE_FILE = 'objects.db'

/** Marks the file as ours ("GWOB"), so that a database of other software is not changed. */
const APPLICATION_ID = 0x47_57_4f_42
/** The version of the tables. */
export const FORMAT = 1
/** How long another process may take to release the file. Tests shorten it. */
export const lockWait: { ms: number } = { ms: 1000 }
/** Bytes that the write-ahead log may keep after a checkpoint. */
const LOG_BYTES = 16 * 1024 * 1024

const TABLES = `
  CREATE TABLE objects (
    collection TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (collection, namespace, name)
  ) STRICT;
  CREATE TABLE revisions (id INTEGER PRIMARY KEY CHECK (id = 1), reserved INTEGER NOT NULL) STRICT;
  INSERT INTO revisions VALUES (1, 1);
`

/** A transaction ends when its changes are on the disk. `fullfsync`: also on macOS, where `fsync` leaves them in the cache of the disk. */
const DURABLE = 'PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON'

/** A database that is open, with what it contained. */
export interface OpenDatabase {
  readonly database: DatabaseSync
  readonly content: TableContent
}

/** The suffixes of the files that belong to a database. */
export const COMPANIONS: readonly string[] = ['-wal', '-shm', '-journal']

/** Loads SQLite, which takes time and memory, when a gateway uses it. */
export function connect(file: string): DatabaseSync {
  const sqlite = process.getBuiltinModule('node:sqlite')
  return new sqlite.DatabaseSync(file, { timeout: lockWait.ms })
}

/**
 * Opens a database, and creates it if there is none. The file is locked until it is closed.
 * @throws DatabaseUnusable
 */
export function openDatabase(file: string): OpenDatabase {
  let database: DatabaseSync | undefined
  try {
    if (!existsSync(file)) createMissing(file)
    // SQLite takes an empty file for a new database.
    if (statSync(file).size === 0) throw new DatabaseUnusable('broken', file, 'the file is empty')
    accessSync(file, constants.R_OK | constants.W_OK)
    database = connect(file)
    return { database, content: readAll(database, file) }
  } catch (error) {
    if (database?.isOpen) database.close()
    throw error instanceof DatabaseUnusable ? error : new DatabaseUnusable(faultOf(error), file, detailOf(error))
  }
}

/** A log without its database would be applied to the new one. */
function createMissing(file: string): void {
  const log = `${file}-wal`
  if (existsSync(log) && statSync(log).size > 0) {
    throw new DatabaseUnusable('broken', file, `it is missing, but its log ${log} exists`)
  }
  createDatabase(file, () => {})
}

/**
 * Creates a complete database under another name first: a process that ends in the middle leaves no part of it.
 * @param fill writes its first content, in the transaction that makes the tables
 */
export function createDatabase(file: string, fill: (database: DatabaseSync) => void): void {
  const unfinished = `${file}.new`
  for (const suffix of ['', ...COMPANIONS]) rmSync(`${unfinished}${suffix}`, { force: true })
  // Secrets are in it: SQLite gives its log the same mode.
  closeSync(openSync(unfinished, 'wx', 0o600))
  const database = connect(unfinished)
  try {
    database.exec(`${DURABLE}; PRAGMA journal_mode = DELETE; BEGIN`)
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT}; ${TABLES}`)
    fill(database)
    database.exec('COMMIT; PRAGMA journal_mode = WAL')
  } finally {
    database.close()
  }
  renameSync(unfinished, file)
  syncFolder(dirname(file))
}

/** A name in a folder is durable when the folder is. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** @throws DatabaseUnusable, or an error of SQLite */
function readAll(database: DatabaseSync, file: string): TableContent {
  // The lock lasts until the database is closed: two gateways would overwrite each other's objects.
  database.exec('PRAGMA locking_mode = EXCLUSIVE')
  checkFormat(database, file)
  const { mode } = statSync(file)
  if ((mode & 0o077) !== 0) chmodSync(file, mode & 0o700)
  database.exec(`${DURABLE}; PRAGMA journal_size_limit = ${LOG_BYTES}`)
  const damage = firstValue(database, 'PRAGMA quick_check(1)')
  if (damage !== 'ok') throw new DatabaseUnusable('broken', file, String(damage).split('\n').join('; '))
  const revision = firstValue(database, 'SELECT reserved FROM revisions')
  if (typeof revision !== 'number') throw new DatabaseUnusable('broken', file, 'the revision is missing')
  return { objects: readObjects(database, file), revision }
}

/** @throws DatabaseUnusable */
function checkFormat(database: DatabaseSync, file: string): void {
  const application = firstValue(database, 'PRAGMA application_id')
  const format = Number(firstValue(database, 'PRAGMA user_version'))
  if (application !== APPLICATION_ID) throw new DatabaseUnusable('foreign', file)
  if (format > FORMAT) {
    throw new DatabaseUnusable('newer', file, `format ${format}; this version reads format ${FORMAT}`)
  }
}

/** @throws DatabaseUnusable */
function readObjects(database: DatabaseSync, file: string): TableContent['objects'] {
  const rows = database.prepare('SELECT collection, namespace, name, json FROM objects').iterate()
  return rows
    .map((row) => {
      const object = readRow(row)
      if (object === undefined) throw new DatabaseUnusable('broken', file, `${describeKey(keyOfRow(row))} is no object`)
      return { key: keyOfRow(row), object }
    })
    .toArray()
}

type Row = Readonly<Record<string, unknown>>

export function keyOfRow({ collection, namespace, name }: Row): ResourceKey {
  return { collection: String(collection), namespace: String(namespace), name: String(name) }
}

/** The object in a row; undefined if it is not the object that the row names. */
export function readRow(row: Row): Resource | undefined {
  try {
    const object = parseJson(String(row.json)) as Partial<Resource> | null
    return object?.metadata?.name === row.name && typeof object?.kind === 'string' ? (object as Resource) : undefined
  } catch {
    return undefined
  }
}

export function describeKey({ collection, namespace, name }: ResourceKey): string {
  return `${collection} ${namespace === '' ? name : `${namespace}/${name}`}`
}

/** The first column of the first row. */
export function firstValue(database: DatabaseSync, query: string): unknown {
  const row = database.prepare(query).get()
  return row === undefined ? undefined : Object.values(row)[0]
}
