import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { UsageError } from './usage-error.ts'

/** The state folder that is not named, in the working directory. */
export const STATE_FOLDER = '.gatewright'

/**
 * Checks that no file of the state folder is read as configuration.
 * @param paths files and folders with objects
 * @throws UsageError if the state folder is in one of the folders; names that begin with a dot are not read there
 */
export function checkStatePath(state: string, paths: readonly string[]): void {
  checkFolder('--state', state, paths)
}

/**
 * The same for another folder that the gateway writes to.
 * @param flag that names it
 */
export function checkFolder(flag: string, path: string, paths: readonly string[]): void {
  const real = realPath(path)
  const folder = paths.find((read) => isRead(relative(realPath(read), real)))
  if (folder === undefined) return
  throw new UsageError(
    `${flag} ${path} is in ${folder}, where its files would be read as objects; use another folder, or one whose name begins with a dot`,
  )
}

/** @param inner the path of the state folder, relative to a folder with objects */
function isRead(inner: string): boolean {
  return !isAbsolute(inner) && inner.split(sep).every((name) => !name.startsWith('.'))
}

/** The folder may not exist yet. */
function realPath(path: string): string {
  const absolute = resolve(path)
  try {
    return realpathSync(absolute)
  } catch {
    const above = dirname(absolute)
    return above === absolute ? absolute : join(realPath(above), basename(absolute))
  }
}
