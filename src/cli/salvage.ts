import { join } from 'node:path'
import { clock } from '#base/clock.ts'
import { DatabaseUnusable } from '#store/database/database-fault.ts'
import { DATABASE_FILE, describeKey } from '#store/database/open-database.ts'
import { salvageDatabase } from '#store/database/salvage.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { complain, print } from './output.ts'

/** Replaces the damaged database of a state folder, and says what was lost. */
export function salvage({ state }: { readonly state: string }): ExitCode {
  const file = join(state, DATABASE_FILE)
  try {
    const salvaged = salvageDatabase(file, new Date(clock.now()))
    if (salvaged === undefined) {
      print(`${file} is not damaged, or does not exist; nothing was changed`)
      return EXIT.ok
    }
    const { keptAs, objects, lost } = salvaged
    print(`${file} has the ${objects} objects that could be read; the damaged file is ${keptAs}`)
    print(
      'Objects that could not be read are lost, and policies may be among them: compare before you start the gateway',
    )
    for (const key of lost) print(`lost: ${describeKey(key)}`)
    return EXIT.findings
  } catch (error) {
    if (!(error instanceof DatabaseUnusable)) throw error
    complain(error.message)
    return EXIT.findings
  }
}
