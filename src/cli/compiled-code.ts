import { mkdirSync } from 'node:fs'
import { constants, enableCompileCache, getCompileCacheDir } from 'node:module'
import { join } from 'node:path'
import { STATE_FOLDER } from './state-path.ts'

/**
 * Keeps compiled code in the state folder if no other folder can be written: `bin/gatewright` names one, and the runtime ignores one that it cannot make
 * (docs/guides/install.md). Workers do the same. Call it before the modules of the command are loaded.
 *
 * @param state the folder that the user named. One that cannot be made has no effect here; the command reports it
 */
export function keepCompiledCode(state = STATE_FOLDER): void {
  if (getCompileCacheDir() !== undefined) return
  try {
    mkdirSync(state, { mode: 0o700 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) return
  }
  const { status, directory } = enableCompileCache(join(state, 'compiled'))
  if (status === constants.compileCacheStatus.ENABLED) process.env.NODE_COMPILE_CACHE = directory
}
