import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/**
 * Opens a regular file. Others may have no end, and to open a pipe must not wait for its other side.
 * @returns its descriptor; undefined: it is not a regular file
 * @throws if it cannot be opened
 */
export function openRegular(path: string): number | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  if (fstatSync(file).isFile()) return file
  closeSync(file)
  return undefined
}

/** @returns the text of a regular file @throws if there is none, or it cannot be read */
export function readRegular(path: string): string {
  const file = openRegular(path)
  if (file === undefined) throw new Error('it is not a regular file')
  try {
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}
