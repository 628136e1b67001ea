import { rememberRecent } from '#base/remember-recent.ts'
import { isFieldName } from './field-syntax.ts'

/** The name of a field of a header section, checked and prepared for writing it. */
export class FieldName {
  /** In lower case. */
  readonly text: string
  /** The line of the field up to its value. */
  readonly lineStart: string
  readonly isConnectionLevel: boolean

  /** @param text in lower case */
  constructor(text: string) {
    this.text = text
    this.lineStart = `${text}: `
    this.isConnectionLevel = isConnectionLevel(text)
  }
}

/**
 * Throws if `name` is not a token (RFC 9110, 5.1). Nearly all names are from the configuration and from code; looking one up costs a fifth of
 * checking it.
 */
export const fieldName: (name: string) => FieldName = rememberRecent((name) => {
  if (!isFieldName(name)) throw new TypeError('the field name must be a token')
  return new FieldName(name.toLowerCase())
})

/** Whether a field belongs to one connection or its framing; the connection writes these itself (RFC 9110, 7.6.1). */
export function isConnectionLevel(name: string): boolean {
  switch (name) {
    case 'connection':
    case 'content-length':
    case 'keep-alive':
    case 'proxy-connection':
    case 'te':
    case 'trailer':
    case 'transfer-encoding':
    case 'upgrade':
      return true
    default:
      return false
  }
}
