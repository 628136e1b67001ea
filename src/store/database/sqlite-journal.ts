import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { JournalFailure } from '../resources/journal-failure.ts'
import type { ResourceEvent } from '../resources/resource.ts'
import type { Journal, TableContent } from '../resources/resource-table.ts'
import { adviceAtRun, type DatabaseFault, detailOf, faultOf } from './database-fault.ts'
import { openDatabase } from './open-database.ts'

/**
 * Revisions are reserved in blocks: a change in memory, such as that of an object of a file, takes a revision without a write to the disk, and
 * a restart must not give it again.
 */
const BLOCK = 10_000

interface Statements {
  readonly set: StatementSync
  readonly remove: StatementSync
  readonly reserve: StatementSync
}

/** A journal with the content that it begins with. */
export interface OpenJournal {
  readonly journal: SqliteJournal
  readonly content: TableContent
}

/** Keeps the last state of each object in a SQLite database. */
export class SqliteJournal implements Journal {
  readonly #file: string
  #database: DatabaseSync
  #statements: Statements
  readonly #report: (problem: JournalFailure) => void
  /** Identifies the file. */
  #inode: number
  /** Revisions up to this one are not given again after a restart. */
  #reserved: number
  /** The last reservation failed, and was reported. */
  #failing = false

  /**
   * Opens the database in a file, and creates it if there is none.
   * @param report called when no revisions could be reserved, the first time after a success
   * @throws DatabaseUnusable
   */
  static open(file: string, report: (problem: JournalFailure) => void): OpenJournal {
    const { database, content } = openDatabase(file)
    const journal = new SqliteJournal(file, database, content.revision, report)
    journal.reserve(content.revision)
    return { journal, content }
  }

  private constructor(
    file: string,
    database: DatabaseSync,
    reserved: number,
    report: (problem: JournalFailure) => void,
  ) {
    this.#file = file
    this.#database = database
    this.#reserved = reserved
    this.#report = report
    this.#inode = statSync(file).ino
    this.#statements = prepare(database)
  }

  append(events: readonly ResourceEvent[]): void {
    const last = events.at(-1)
    if (last === undefined) return
    const { set, remove } = this.#statements
    this.#write(last.revision, () => {
      for (const { type, key, object } of events) {
        const { collection, namespace, name } = key
        if (type === 'DELETED') remove.run(collection, namespace, name)
        else set.run(collection, namespace, name, JSON.stringify(object))
      }
    })
  }

  /** When half of the block is left: the rest of it is for a disk that is full for a while. */
  reserve(revision: number): void {
    if (revision + BLOCK / 2 <= this.#reserved) return
    try {
      this.#write(revision, () => {})
      this.#failing = false
    } catch (error) {
      if (!(error instanceof JournalFailure)) throw error
      if (!this.#failing) this.#report(error)
      this.#failing = true
    }
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close()
  }

  /**
   * Opens the file again after `close`. What another process has written in between stays, until the object changes here.
   * @throws DatabaseUnusable
   */
  reopen(): void {
    const { database, content } = openDatabase(this.#file)
    this.#database = database
    this.#inode = statSync(this.#file).ino
    this.#statements = prepare(database)
    this.#reserved = content.revision
  }

  /**
   * Makes all changes durable, or none.
   * @throws JournalFailure
   */
  #write(revision: number, change: () => void): void {
    if (!this.#database.isOpen) throw this.#failure('closed', undefined)
    // Otherwise a change would be acknowledged that the next start does not find.
    if (statSync(this.#file, { throwIfNoEntry: false })?.ino !== this.#inode) throw this.#failure('moved', undefined)
    const reserved = revision + BLOCK / 2 > this.#reserved ? revision + BLOCK : this.#reserved
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      change()
      if (reserved !== this.#reserved) this.#statements.reserve.run(reserved)
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#undo()
      throw this.#failure(faultOf(error), error)
    }
    this.#reserved = reserved
  }

  /** SQLite has undone some failed transactions itself. */
  #undo(): void {
    if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec('ROLLBACK')
  }

  #failure(fault: DatabaseFault, cause: unknown): JournalFailure {
    return new JournalFailure(fault, adviceAtRun(fault, this.#file, detailOf(cause)), cause)
  }
}

function prepare(database: DatabaseSync): Statements {
  return {
    set: database.prepare(
      'INSERT INTO objects VALUES (?, ?, ?, ?) ON CONFLICT (collection, namespace, name) DO UPDATE SET json = excluded.json',
    ),
    remove: database.prepare('DELETE FROM objects WHERE collection = ? AND namespace = ? AND name = ?'),
    reserve: database.prepare('UPDATE revisions SET reserved = ?'),
  }
}
