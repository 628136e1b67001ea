import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { JournalFailure } from '../resources/journal-failure.ts'
import { DatabaseUnusable, faultOf } from './database-fault.ts'
import { describeKey, openDatabase } from './open-database.ts'
import { SqliteJournal } from './sqlite-journal.ts'
import { configMap, configMapKey, type OpenTable, openTable, valuesOf } from './testing.ts'

let folder: string
let file: string
const open: OpenTable[] = []

beforeEach(() => {
  folder = temporaryFolder()
  file = join(folder, 'objects.db')
})
afterEach(() => {
  for (const { table } of open.splice(0)) table.close()
})

function start(): OpenTable {
  const opened = openTable(file)
  open.push(opened)
  return opened
}

/** Also the connection, to make it fail. */
function startWithDatabase(): OpenTable & { readonly database: DatabaseSync } {
  const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare')
  return { ...start(), database: prepare.mock.contexts.at(-1) as DatabaseSync }
}

function stop(): void {
  for (const { table } of open.splice(0)) table.close()
}

function failureOf(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

/** Runs statements that use `openDatabase` in another process. @returns what they print */
function runScript(statements: string): string {
  const source = fileURLToPath(new URL('open-database.ts', import.meta.url))
  const script = `import { openDatabase } from ${JSON.stringify(source)}\n${statements}`
  const cwd = fileURLToPath(new URL('../../..', import.meta.url))
  return execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8', cwd }).trim()
}

function edit(change: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(file)
  change(database)
  database.close()
}

test('objects are there after a restart, as they were at the last change', () => {
  const { table } = start()
  table.commit([configMap('a', 'one'), configMap('b', 'two'), configMap('c', 'three')])
  table.commit([configMap('a', 'later'), { key: configMapKey('b'), object: undefined }])
  table.commitInMemory([configMap('file', 'not stored')])
  const before = table.get(configMapKey('a'))
  stop()
  const again = start().table
  expect(valuesOf(again)).toEqual({ a: 'later', c: 'three' })
  expect(again.get(configMapKey('a'))).toEqual(before)
})

test('no revision is given twice, also not those of changes in memory', () => {
  let last = 0
  for (const changes of [1, 3, 25_000]) {
    const { table } = start()
    expect(table.revision).toBeGreaterThanOrEqual(last)
    for (let each = 0; each < changes; each += 1) table.commitInMemory([configMap('file', `${each}`)])
    last = table.revision
    // Not closed: the process may be killed.
    const [now] = openCopy()
    expect(now).toBeGreaterThanOrEqual(last)
    stop()
  }
})

/** The revision that a process would start with that finds the files as they are. */
function openCopy(): [number] {
  const copy = `${file}.copy`
  for (const suffix of ['', '-wal']) copyFileSync(`${file}${suffix}`, `${copy}${suffix}`)
  const { database, content } = openDatabase(copy)
  database.close()
  return [content.revision]
}

test('only the owner can read the database and its log', () => {
  start().table.commit([configMap('a', 'one')])
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
  expect([mode(file), mode(`${file}-wal`)]).toEqual(['600', '600'])
  stop()
  chmodSync(file, 0o644)
  start()
  expect(mode(file)).toBe('600')
})

test('a part of a database that was left behind is no database', () => {
  writeFileSync(`${file}.new`, 'the beginning of a database')
  start().table.commit([configMap('a', 'one')])
  expect(existsSync(`${file}.new`)).toBe(false)
})

function unusable(): DatabaseUnusable {
  const found = failureOf(() => start())
  expect(found).toBeInstanceOf(DatabaseUnusable)
  return found as DatabaseUnusable
}

test('a path that cannot be opened as a database is refused', () => {
  mkdirSync(file)
  const { fault, message } = unusable()
  expect(fault).toBe('failed')
  expect(message).toMatch(`${file} cannot be opened (`)
})

test('a database of a newer version is refused and stays as it is', () => {
  start().table.commit([configMap('a', 'one')])
  stop()
  edit((database) => database.exec('PRAGMA user_version = 2'))
  const { fault, message } = unusable()
  expect(fault).toBe('newer')
  expect(message).toBe(
    `${file} was written by a newer version of the gateway (format 2; this version reads format 1): run that version, or name another folder with --state`,
  )
  edit((database) => database.exec('PRAGMA user_version = 1'))
  expect(valuesOf(start().table)).toEqual({ a: 'one' })
})

test('a database of other software is refused', () => {
  edit((database) => database.exec('CREATE TABLE songs (title TEXT)'))
  expect(unusable()).toMatchObject({
    fault: 'foreign',
    message: `${file} was written by other software: name another folder with --state`,
  })
})

test('a database that another process uses is refused, and that process goes on', () => {
  const { table } = start()
  const said = runScript(
    `try { openDatabase(${JSON.stringify(file)}) } catch (error) { console.log(error.fault, error.message) }`,
  )
  expect(said).toBe(`locked another process uses ${file}: stop it, or name another folder with --state`)
  table.commit([configMap('a', 'one')])
  stop()
  expect(valuesOf(start().table)).toEqual({ a: 'one' })
})

test('SQLite is loaded with the first database, and prints no warning', () => {
  const source = fileURLToPath(new URL('sqlite-journal.ts', import.meta.url))
  const script = `import { SqliteJournal } from ${JSON.stringify(source)}
    const loaded = () => process.moduleLoadList.some((name) => name.endsWith(' sqlite'))
    const before = loaded()
    process.on('warning', ({ message }) => console.log(message))
    SqliteJournal.open(${JSON.stringify(file)}, () => {}).journal.close()
    setImmediate(() => console.log(before, loaded()))`
  const said = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
  })
  expect(said.trim()).toBe('false true')
})

test.each<[string, () => void]>([
  ['is no database', () => writeFileSync(file, 'this is the text of a letter\n'.repeat(500))],
  ['is empty', () => writeFileSync(file, '')],
  ['is cut off', () => truncateSync(file, 4096 * 3)],
  ['has a page of zeros', () => overwrite(4096 * 3, Buffer.alloc(4096))],
  ['has an object that is no JSON', () => edit((it) => it.exec(`UPDATE objects SET json = '{' WHERE name = 'a3'`))],
  ['has an object under another name', () => edit((it) => it.exec(`UPDATE objects SET name = 'x' WHERE name = 'a3'`))],
  ['has no revision', () => edit((it) => it.exec('DELETE FROM revisions'))],
  ['has no tables', () => edit((it) => it.exec('DROP TABLE objects; DROP TABLE revisions'))],
  ['is gone, but its log is not', () => renameSync(file, `${file}-wal`)],
])('a gateway does not start with a database that %s', (_, damage) => {
  fillWith(20)
  stop()
  damage()
  const { fault, message } = unusable()
  expect(fault).toBe('broken')
  expect(message).toContain(`${file} is damaged (`)
  expect(message).toContain(`run "gatewright salvage --state ${folder}"`)
  expect(unusable().fault).toBe('broken')
})

/** Objects of about a page each. */
function fillWith(count: number): void {
  const names = Array.from({ length: count }, (_, at) => `a${at}`)
  start().table.commit(names.map((name) => configMap(name, name.repeat(1000))))
}

function overwrite(at: number, bytes: Buffer): void {
  const handle = openSync(file, 'r+')
  writeSync(handle, bytes, 0, bytes.length, at)
  closeSync(handle)
}

test('a full disk refuses the change as a whole, reads go on, and the next change with room is stored', () => {
  const { database, table, reported } = startWithDatabase()
  table.commit([configMap('a', 'one')])
  const pages = Object.values(database.prepare('PRAGMA page_count').get()!)[0]
  database.exec(`PRAGMA max_page_count = ${pages}`)
  const failure = failureOf(() => table.commit([configMap('a', 'two'), configMap('big', 'x'.repeat(100_000))]))
  expect(failure).toBeInstanceOf(JournalFailure)
  expect(failure).toMatchObject({
    fault: 'full',
    message: `the change was not stored, because the disk of ${file} is full: make room, and try again`,
  })
  expect(valuesOf(table)).toEqual({ a: 'one' })
  table.commitInMemory([configMap('file', 'in memory')])
  expect(valuesOf(table)).toEqual({ a: 'one', file: 'in memory' })
  database.exec('PRAGMA max_page_count = 1000000')
  table.commit([configMap('big', 'room')])
  stop()
  expect(valuesOf(start().table)).toEqual({ a: 'one', big: 'room' })
  expect(reported).toEqual([])
})

test('a database that cannot be written refuses changes; revisions in memory go on, with one report', () => {
  const { database, table, reported } = startWithDatabase()
  database.exec('PRAGMA query_only = ON')
  expect(failureOf(() => table.commit([configMap('a', 'one')]))).toMatchObject({ fault: 'read-only' })
  for (let each = 0; each < 20_000; each += 1) table.commitInMemory([configMap('file', `${each}`)])
  expect(reported.map(({ message }) => message)).toEqual([
    `the change was not stored, because ${file} cannot be written (attempt to write a readonly database): let the gateway write the file, and try again`,
  ])
  database.exec('PRAGMA query_only = OFF')
  table.commit([configMap('a', 'two')])
  const last = table.revision
  stop()
  expect(start().table.revision).toBeGreaterThanOrEqual(last)
})

test('a database that was removed or replaced refuses changes, because the next start would not find them', () => {
  const { table } = start()
  renameSync(file, `${file}.away`)
  expect(failureOf(() => table.commit([configMap('a', 'one')]))).toMatchObject({ fault: 'moved' })
  writeFileSync(file, '')
  expect(failureOf(() => table.commit([configMap('a', 'one')]))).toMatchObject({ fault: 'moved' })
  renameSync(`${file}.away`, file)
  table.commit([configMap('a', 'two')])
  stop()
  expect(valuesOf(start().table)).toEqual({ a: 'two' })
})

test('after it is closed, a journal refuses changes', () => {
  const { journal } = SqliteJournal.open(file, () => {})
  journal.close()
  const event = { type: 'ADDED', revision: 2, ...configMap('a', 'one'), before: undefined } as const
  expect(failureOf(() => journal.append([event]))).toMatchObject({ name: 'JournalFailure', fault: 'closed' })
})

test.each([
  [{ errcode: 1 }, 'broken'],
  [{ errcode: 13 }, 'full'],
  [{ errcode: 8 }, 'read-only'],
  [{ errcode: 1032 }, 'read-only'],
  [{ errcode: 5 }, 'locked'],
  [{ errcode: 261 }, 'locked'],
  [{ errcode: 11 }, 'broken'],
  [{ errcode: 267 }, 'broken'],
  [{ errcode: 26 }, 'broken'],
  [{ errcode: 10 }, 'failed'],
  [{ code: 'EACCES' }, 'read-only'],
  [{ code: 'EROFS' }, 'read-only'],
  [{ code: 'ENOSPC' }, 'full'],
  [{ code: 'EISDIR' }, 'failed'],
])('%j is the fault "%s"', (error, fault) => {
  expect(faultOf(error)).toBe(fault)
})

test('a database without permission to write is refused', () => {
  start().table.commit([configMap('a', 'one')])
  stop()
  chmodSync(file, 0o444)
  chmodSync(folder, 0o755)
  // The superuser can write every file, so another user opens it then.
  const said = runScript(`if (process.getuid() === 0) process.setuid(65534)
    try { openDatabase(${JSON.stringify(file)}) } catch (error) { console.log(error.fault) }`)
  expect(said).toBe('read-only')
})

test('a commit waits until its changes are on the disk', () => {
  const { database } = startWithDatabase()
  const setting = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get()!)[0]
  const FULL = 2
  // With FULL, SQLite calls fsync for the write-ahead log at the end of every transaction; `npm run faults:store` shows it.
  expect([setting('journal_mode'), setting('synchronous')]).toEqual(['wal', FULL])
  expect([setting('fullfsync'), setting('checkpoint_fullfsync')]).toEqual([1, 1])
})

test('a folder in place of the database is refused', () => {
  file = folder
  expect(unusable().fault).toBe('failed')
})

test.each([
  ['', 'gatewayclasses a'],
  ['default', 'gatewayclasses default/a'],
])('an object in namespace %j is described as %s', (namespace, text) => {
  expect(describeKey({ collection: 'gatewayclasses', namespace, name: 'a' })).toBe(text)
})

test('a journal that is closed for another process refuses changes until it is opened again', () => {
  const { table, journal } = start()
  table.commit([configMap('a', '1')])
  journal.close()
  const write = () => table.commit([configMap('a', '2')])
  expect(failureOf(write)).toMatchObject({
    name: 'JournalFailure',
    fault: 'closed',
    message: 'the change was not stored, because another process takes the place of this one: try again',
  })
  const other = openDatabase(file)
  expect(() => journal.reopen()).toThrow(DatabaseUnusable)
  other.database.close()
  journal.reopen()
  write()
  stop()
  expect(valuesOf(start().table)).toEqual({ a: '2' })
})
