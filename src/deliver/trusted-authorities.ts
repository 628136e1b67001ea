import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { clock } from '#base/clock.ts'

const READ_EVERY_MS = 10_000

/** By which proxies and controllers name the authorities that a proxy trusts. @param pem the whole text of the file */
export function digestOfAuthorities(pem: string): string {
  return createHash('sha256').update(pem).digest('hex')
}

/** Follows the file with the authorities that a proxy trusts, which each new connection reads. */
export class TrustedAuthorities {
  readonly #file: string
  readonly #changed: () => void
  #digest: string | undefined
  #timer: { cancel(): void } | undefined
  #isClosed = false

  readonly #everyMs: number

  constructor(file: string, changed: () => void, everyMs = READ_EVERY_MS) {
    this.#file = file
    this.#changed = changed
    this.#everyMs = everyMs
  }

  /** See `digestOfAuthorities`; undefined: not read yet. */
  get digest(): string | undefined {
    return this.#digest
  }

  start(): void {
    void this.#read()
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  async #read(): Promise<void> {
    // Why it cannot be read is told by the next connection.
    const text = await readFile(this.#file, 'utf8').catch(() => undefined)
    if (this.#isClosed) return
    const digest = text === undefined ? this.#digest : digestOfAuthorities(text)
    if (digest !== this.#digest) {
      this.#digest = digest
      this.#changed()
    }
    this.#timer = clock.after(this.#everyMs, () => void this.#read())
  }
}
