import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { DatabaseUnusable, detailOf, faultOf } from './database-fault.ts'
import { COMPANIONS, openDatabase, syncFolder } from './open-database.ts'

/** Copies until one is consistent: a gateway changes the file itself only at a checkpoint, once in about a thousand pages of changes. */
const ATTEMPTS = 50
const LOG = '-wal'
/** Clients may remember revisions of changes after the backup; those of a restored database are higher. */
const NEWER_REVISIONS = 1_000_000

/**
 * Writes a copy of a database to another file, which has no companions. A gateway may use the database: it holds the lock of the file, so the
 * files are read without SQLite.
 * @param read reads a file; for tests
 * @returns the number of objects in the copy
 * @throws DatabaseUnusable if the database is damaged, or changes all the time; an error of the file system if the copy cannot be written
 */
export function backUpDatabase(file: string, copy: string, read: (file: string) => Buffer = readFileSync): number {
  const found = consistentCopy(file, read)
  return placeDatabase(copy, {
    source: file,
    write(unfinished) {
      writeFileSync(unfinished, found.database, { mode: 0o600 })
      if (found.log !== undefined) writeFileSync(`${unfinished}${LOG}`, found.log, { mode: 0o600 })
    },
  })
}

/**
 * Makes a copy that `backUpDatabase` wrote the database of a gateway that does not run. The database that is there keeps its content under
 * another name. A missing folder is made.
 * @param now part of the new name
 * @returns the number of objects, and the new name; undefined: there was no database
 * @throws DatabaseUnusable if the copy is damaged or of a newer version, or a gateway uses the database; nothing has changed then
 */
export function restoreDatabase(
  copy: string,
  file: string,
  now: Date,
): { readonly objects: number; readonly keptAs: string | undefined } {
  const content = readFileSync(copy)
  if (!existsSync(dirname(file))) mkdirSync(dirname(file), { mode: 0o700 })
  if (existsSync(file)) assertUnused(file)
  const keptAs = existsSync(file) ? `${file}.replaced-${now.toISOString().replaceAll(/[:.]/g, '-')}` : undefined
  const objects = placeDatabase(file, {
    source: copy,
    write(unfinished) {
      writeFileSync(unfinished, content, { mode: 0o600 })
      giveToOwnerOf(dirname(file), unfinished)
    },
    amend: (database) => database.prepare('UPDATE revisions SET reserved = reserved + ?').run(NEWER_REVISIONS),
    replace() {
      // The log first: it would be applied to the restored database. Without a database it is of no use.
      for (const suffix of [...COMPANIONS, '']) {
        if (keptAs === undefined) rmSync(`${file}${suffix}`, { force: true })
        else if (existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${keptAs}${suffix}`)
      }
    },
  })
  return { objects, keptAs }
}

/** Root restores the database of a gateway that runs as another user, and has to write it. Others cannot give files away. */
function giveToOwnerOf(folder: string, file: string): void {
  const { uid, gid } = statSync(folder)
  if (process.getuid?.() === 0) chownSync(file, uid, gid)
}

/** A damaged database may be replaced. */
function assertUnused(file: string): void {
  try {
    openDatabase(file).database.close()
  } catch (error) {
    if (!(error instanceof DatabaseUnusable && error.fault === 'broken')) throw error
  }
}

interface Steps {
  /** For messages. */
  readonly source: string
  readonly write: (unfinished: string) => void
  readonly amend?: (database: DatabaseSync) => void
  /** Makes room for it. */
  readonly replace?: () => void
}

/** Writes a database beside its place, checks it there, and gives it its name. @returns the number of its objects */
function placeDatabase(place: string, { source, write, amend, replace }: Steps): number {
  const scratch = mkdtempSync(join(dirname(place), '.gatewright-copy-'))
  try {
    const unfinished = join(scratch, 'objects.db')
    write(unfinished)
    // The last connection moves the log into the file, and removes it.
    const { database, content } = openDatabase(unfinished)
    const { length } = [...content.objects]
    amend?.(database)
    database.close()
    replace?.()
    renameSync(unfinished, place)
    syncFolder(dirname(place))
    return length
  } catch (error) {
    throw error instanceof DatabaseUnusable ? new DatabaseUnusable(error.fault, source) : error
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

interface Copied {
  readonly database: Buffer
  /** Undefined: all changes are in the database. */
  readonly log: Buffer | undefined
}

/**
 * Changes are added to the end of the log, and a checkpoint moves them to the database (sqlite.org, "Write-Ahead Logging"). So the log that is
 * read between two equal states of the database belongs to it: it may end in the middle of a change, which SQLite then ignores.
 */
function consistentCopy(file: string, read: (file: string) => Buffer): Copied {
  try {
    let before = read(file)
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const log = readIfPresent(`${file}${LOG}`, read)
      const after = read(file)
      if (after.equals(before)) return { database: after, log }
      before = after
    }
  } catch (error) {
    throw new DatabaseUnusable(faultOf(error), file, detailOf(error))
  }
  throw new DatabaseUnusable('failed', file, `it changed during each of ${ATTEMPTS} copies; try again`)
}

function readIfPresent(file: string, read: (file: string) => Buffer): Buffer | undefined {
  try {
    return read(file)
  } catch (error) {
    // The gateway has ended meanwhile.
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return undefined
    throw error
  }
}
