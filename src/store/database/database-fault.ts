import { dirname } from 'node:path'

/** Why a database cannot be used. */
export type DatabaseFault =
  /** A newer version of the gateway wrote it. */
  | 'newer'
  /** Other software wrote it. */
  | 'foreign'
  | 'locked'
  | 'full'
  | 'read-only'
  | 'broken'
  /** The file was removed or replaced while it was open. */
  | 'moved'
  /** It is closed: another process takes the place of this one. */
  | 'closed'
  | 'failed'

/** A database that a gateway cannot start with. It is unchanged. The message is one line for a terminal, and says what to do. */
export class DatabaseUnusable extends Error {
  override readonly name = 'DatabaseUnusable'
  readonly fault: DatabaseFault

  constructor(fault: DatabaseFault, file: string, detail?: string) {
    super(adviceAtStart(fault, file, detail))
    this.fault = fault
  }
}

/** Primary result codes of SQLite (sqlite.org, "Result and Error Codes"). */
const FAULTS: Readonly<Record<number, DatabaseFault>> = {
  // A statement does not fit the tables.
  1: 'broken',
  3: 'read-only',
  5: 'locked',
  6: 'locked',
  8: 'read-only',
  11: 'broken',
  13: 'full',
  26: 'broken',
}

const SYSTEM_FAULTS: Readonly<Record<string, DatabaseFault>> = {
  EACCES: 'read-only',
  EPERM: 'read-only',
  EROFS: 'read-only',
  ENOSPC: 'full',
  EDQUOT: 'full',
}

/** The fault that an error of SQLite or of the file system means. */
export function faultOf(error: unknown): DatabaseFault {
  const { errcode, code } = error as { readonly errcode?: unknown; readonly code?: unknown }
  // Extended codes have the primary one in their low byte.
  if (typeof errcode === 'number') return FAULTS[errcode & 0xff] ?? 'failed'
  return SYSTEM_FAULTS[`${code}`] ?? 'failed'
}

/** What went wrong, in the words of SQLite or of the file system. They contain no stored value. */
export function detailOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function adviceAtStart(fault: DatabaseFault, file: string, detail = ''): string {
  const because = detail === '' ? '' : ` (${detail})`
  switch (fault) {
    case 'newer':
      return `${file} was written by a newer version of the gateway${because}: run that version, or name another folder with --state`
    case 'foreign':
      return `${file} was written by other software${because}: name another folder with --state`
    case 'locked':
      return `another process uses ${file}: stop it, or name another folder with --state`
    case 'full':
      return `the disk of ${file} is full: make room, and start again`
    case 'read-only':
      return `${file} cannot be written${because}: let this user write the file and its folder, or name another folder with --state`
    case 'broken':
    case 'moved':
      return `${file} is damaged${because}; a gateway that starts without its objects may lack policies that protect. Restore a copy of the file, or run "gatewright salvage --state ${dirname(file)}", which keeps the damaged file and makes a new one of all objects that can be read`
    case 'closed':
    case 'failed':
      return `${file} cannot be opened${because}`
  }
}

/** What to do when a running gateway cannot store a change. */
export function adviceAtRun(fault: DatabaseFault, file: string, detail: string): string {
  switch (fault) {
    case 'full':
      return `the change was not stored, because the disk of ${file} is full: make room, and try again`
    case 'read-only':
      return `the change was not stored, because ${file} cannot be written (${detail}): let the gateway write the file, and try again`
    case 'moved':
      return `the change was not stored, because ${file} was removed or replaced while the gateway runs: put it back, and try again, or restart the gateway`
    case 'closed':
      return 'the change was not stored, because another process takes the place of this one: try again'
    case 'broken':
      return `the change was not stored, because ${file} is damaged (${detail}): stop the gateway, and run "gatewright salvage --state ${dirname(file)}"`
    default:
      return `the change was not stored in ${file}: ${detail}`
  }
}
