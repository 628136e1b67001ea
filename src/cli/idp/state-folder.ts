import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type ProviderFiles, ProviderStateUnusable } from '#idp/provider/provider-state.ts'

/** Files that only their owner can read, and that one process writes. A process that ends at any time leaves a whole file. */
export class StateFolder implements ProviderFiles {
  readonly #folder: string
  /** What each file was when it was last read or written. */
  readonly #versions = new Map<string, string>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** @throws ProviderStateUnusable */
  read(name: string): string | undefined {
    try {
      this.#versions.set(name, this.#version(name))
      return readFileSync(join(this.#folder, name), 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw new ProviderStateUnusable(`the state folder cannot be read: ${(error as Error).message}`)
    }
  }

  /** @throws ProviderStateUnusable also if another process has written the file */
  write(name: string, text: string): void {
    const file = join(this.#folder, name)
    if (this.#version(name) !== (this.#versions.get(name) ?? ABSENT)) {
      throw new ProviderStateUnusable(`${file} was changed by another process: each provider needs its own --state`)
    }
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      replaceFile(file, text)
    } catch (error) {
      throw new ProviderStateUnusable(`the state folder cannot be written: ${(error as Error).message}`)
    }
    this.#versions.set(name, this.#version(name))
  }

  #version(name: string): string {
    const found = statSync(join(this.#folder, name), { throwIfNoEntry: false, bigint: true })
    return found === undefined ? ABSENT : `${found.ino} ${found.mtimeNs} ${found.size}`
  }
}

const ABSENT = ''

/** The new file is created here: it would keep the mode and the owner of one that is already there. */
function replaceFile(file: string, text: string): void {
  const next = `${file}.new`
  rmSync(next, { force: true })
  const descriptor = openSync(next, 'wx', 0o600)
  try {
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(next, file)
}
