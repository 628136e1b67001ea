import { accessSync, constants, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Level } from '#base/log-levels.ts'
import type { LogFields } from '#observe/log/application-log.ts'

type Report = (level: Level, message: string, fields: LogFields) => void

/** The state folder cannot be used, although the user named it. The message is one line for a terminal. */
export class StateFolderUnusable extends Error {
  override readonly name = 'StateFolderUnusable'
}

/**
 * Files of a gateway that outlive its process, readable only by their owner. A gateway that serves never stops because of them: what cannot be
 * written remains in memory only, with one line in the log, and each later write tries again.
 */
export class StateFolder {
  readonly #path: string
  readonly #report: Report
  /** The last attempt to write failed, and was logged. */
  #failing = false

  /**
   * Creates the folder.
   * @param required the user named the folder, so a folder that cannot be used is a mistake
   * @throws StateFolderUnusable if it is required and cannot be used
   */
  constructor(path: string, required: boolean, report: Report) {
    this.#path = path
    this.#report = report
    try {
      this.#open()
    } catch (error) {
      if (required) throw new StateFolderUnusable(`the state folder ${path} cannot be used: ${causeOf(error)}`)
      this.#fail(error)
    }
  }

  /** The folder can be written. */
  get isUsable(): boolean {
    return !this.#failing
  }

  /** Path of a file in the folder. */
  pathOf(name: string): string {
    return join(this.#path, name)
  }

  /**
   * @param parse throws if the file has not the expected content
   * @returns the content of a file; undefined if there is none. A file that cannot be used is logged and ignored
   */
  read<T>(name: string, parse: (text: string) => T): T | undefined {
    const file = join(this.#path, name)
    try {
      return parse(readFileSync(file, 'utf8'))
    } catch (error) {
      if (isMissing(error)) return undefined
      this.#report('warn', 'a state file cannot be read; the gateway continues without it', {
        file,
        cause: causeOf(error),
      })
      return undefined
    }
  }

  /** Writes a file. A reader sees either its old or its new content, never a part. */
  write(name: string, text: string): void {
    const file = join(this.#path, name)
    try {
      // The folder may have been removed.
      this.#open()
      writeFileSync(`${file}.new`, text, { mode: 0o600 })
      renameSync(`${file}.new`, file)
    } catch (error) {
      return this.#fail(error)
    }
    if (!this.#failing) return
    this.#failing = false
    this.#report('info', 'the state folder can be written again', { folder: this.#path })
  }

  /** Removes a file, if it can be removed. */
  remove(name: string): void {
    try {
      rmSync(join(this.#path, name), { force: true })
    } catch (error) {
      this.#fail(error)
    }
  }

  #open(): void {
    makeFolder(this.#path)
    accessSync(this.#path, constants.W_OK | constants.X_OK)
  }

  #fail(error: unknown): void {
    if (this.#failing) return
    this.#failing = true
    this.#report('warn', 'the state folder cannot be written; state is kept in memory only', {
      folder: this.#path,
      cause: causeOf(error),
    })
  }
}

/** The recursive `mkdirSync` of Node never returns where a file system has no folders to make, such as below `/proc`. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const parent = dirname(path)
    if (!isSystemError(error)) throw error
    if (error.code === 'EEXIST' && statSync(path).isDirectory()) return
    if (error.code !== 'ENOENT' || parent === path) throw error
    makeFolder(parent)
    mkdirSync(path, { mode: 0o700 })
  }
}

/** A path below a file has no file either. */
function isMissing(error: unknown): boolean {
  return isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

function causeOf(error: unknown): string {
  // `mkdir` finds a file in place of the folder.
  if (isSystemError(error) && error.code === 'EEXIST') return 'it is not a folder'
  return error instanceof Error ? error.message : String(error)
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error
}
