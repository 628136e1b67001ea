import { HostObject, type Result } from '#cel/index.ts'

/** A credential in an expression: redacted in output, `.unredacted()` returns the text (docs/behaviour/http.md, "Secrets"). */
export class SecretText extends HostObject {
  readonly typeName = 'secret'
  readonly #text: string

  constructor(text: string) {
    super()
    this.#text = text
  }

  /** For the gateway itself, never for output. */
  get clearText(): string {
    return this.#text
  }

  override call(method: string): Result | undefined {
    return method === 'unredacted' ? this.#text : undefined
  }

  override toJson(): unknown {
    return '<redacted>'
  }
}
