import { clock } from '#base/clock.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import { readText } from './kubeconfig.ts'

/** Kubernetes replaces the token of a Pod long before it expires, so it need not be read for each request. */
const FRESH_MS = 30_000

/** A token in a file that is replaced before the token expires, such as that of a service account. */
export class TokenFile {
  readonly file: string
  #token: string | undefined
  #readMs = 0

  constructor(file: string) {
    this.file = file
  }

  /**
   * The token, read again every 30 seconds. A file that cannot be read any more leaves the last token in use: the API decides about it.
   * @throws ApiUnreadable if the file has never had a token
   */
  get(): string {
    const now = clock.monotonic()
    if (this.#token !== undefined && now - this.#readMs < FRESH_MS) return this.#token
    this.#readMs = now
    try {
      this.#token = readToken(this.file)
    } catch (error) {
      if (this.#token === undefined) throw error
    }
    return this.#token
  }

  /** The API has refused the token: the next request reads the file. */
  expire(): void {
    this.#readMs = -FRESH_MS
  }
}

/** @throws ApiUnreadable */
function readToken(file: string): string {
  const token = readText(file).trim()
  if (token === '') throw new ApiUnreadable(`${file} has no token`)
  return token
}
