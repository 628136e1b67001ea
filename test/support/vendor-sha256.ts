import { createHash, createHmac } from 'node:crypto'

type Data = string | ArrayBuffer | ArrayBufferView

/** SHA-256 as the signing library of the vendor expects it: with a secret, HMAC. */
export class VendorSha256 {
  readonly #hash: { update(data: Uint8Array): unknown; digest(): Buffer }

  constructor(secret?: Data) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret))
  }

  update(data: Data): void {
    this.#hash.update(bytesOf(data))
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }

  reset(): void {}
}

function bytesOf(data: Data): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data) : Buffer.from(data as Uint8Array)
}
