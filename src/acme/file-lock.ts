import type { DatabaseSync } from 'node:sqlite'

/** `SQLITE_BUSY` (sqlite.org, "Result and Error Codes"). */
const BUSY = 5

/**
 * Locks a file against other processes of this machine. The lock ends with the process at the latest: SQLite has the only such locks in Node.
 * @returns undefined: another one has it
 */
export function lockFile(file: string): Disposable | undefined {
  const sqlite = process.getBuiltinModule('node:sqlite')
  const database: DatabaseSync = new sqlite.DatabaseSync(file, { timeout: 0 })
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if ((error as { readonly errcode?: unknown }).errcode === BUSY) return undefined
    throw error
  }
  return { [Symbol.dispose]: () => database.close() }
}
