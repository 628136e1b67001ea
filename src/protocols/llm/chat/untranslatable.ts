import type { RejectionCode } from '#base/rejections.ts'
import type { JsonValue } from '../json/json-document.ts'

/**
 * A body cannot be translated: the client gets 400 with the path (decisions B26, B28), or 502 if the body came from a provider. Thrown by
 * readers and writers, caught where a translation begins.
 */
export class Untranslatable extends Error {
  /** Empty for the whole body. */
  readonly path: string
  readonly code: RejectionCode

  constructor(value: JsonValue | undefined, why: string, code: RejectionCode = 'llm-body-invalid') {
    const path = value?.path ?? ''
    super(path === '' ? why : `${path}: ${why}`)
    this.path = path
    this.code = code
  }
}
