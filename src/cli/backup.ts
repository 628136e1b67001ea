import { join } from 'node:path'
import { clock } from '#base/clock.ts'
import { count } from '#base/count.ts'
import { backUpDatabase, restoreDatabase } from '#store/database/backup.ts'
import { DatabaseUnusable } from '#store/database/database-fault.ts'
import { DATABASE_FILE } from '#store/database/open-database.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { complain, print } from './output.ts'
import { STATE_FOLDER } from './state-path.ts'

interface Flags {
  readonly state?: string
}

/** Copies the database of a state folder; its gateway may run. */
export function backup(copy: string, { state = STATE_FOLDER }: Flags): ExitCode {
  const file = join(state, DATABASE_FILE)
  return attempt(() => {
    const objects = backUpDatabase(file, copy)
    print(
      `${copy} has ${count(objects, 'object')} of ${file}, and none of files; it may contain Secrets, so keep it as safe as the state folder`,
    )
  })
}

/** Makes such a copy the database of a state folder; its gateway must not run. */
export function restore(copy: string, { state = STATE_FOLDER }: Flags): ExitCode {
  const file = join(state, DATABASE_FILE)
  return attempt(() => {
    const { objects, keptAs } = restoreDatabase(copy, file, new Date(clock.now()))
    const before = keptAs === undefined ? '' : `; the database before is ${keptAs}`
    print(`${file} has ${count(objects, 'object')} of ${copy}${before}`)
  })
}

function attempt(work: () => void): ExitCode {
  try {
    work()
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof DatabaseUnusable || (error instanceof Error && 'code' in error))) throw error
    complain(error.message)
    return EXIT.findings
  }
}
