import { trimSpace } from '#base/byte-text.ts'
import { isFieldName, isFieldValue } from '#net/http/field-syntax.ts'
import { isConnectionLevel } from '#net/http/head.ts'
import { fieldText } from '../fields/field-text.ts'
import { ADD_IF_ABSENT, type HeaderOption, OVERWRITE_IF_EXISTS } from './check-messages.ts'
import type { HeaderEdit } from './verdict.ts'

/**
 * Whether an authorization server may set a field of a message. Fields of the connection and of the framing are ours, the start line and the
 * host belong to routes and their filters (docs/behaviour/http.md, "External authorization").
 */
export function isServerField(lowerName: string): boolean {
  return (
    isFieldName(lowerName) && !isConnectionLevel(lowerName) && lowerName !== 'host' && lowerName !== 'http2-settings'
  )
}

/** The edits that an authorization server asks for; those of fields that it may not set are left out. */
export function headerEdits(options: readonly HeaderOption[] = []): HeaderEdit[] {
  const edits: HeaderEdit[] = []
  for (const option of options) {
    const lowerName = option.header?.key?.toLowerCase() ?? ''
    if (isServerField(lowerName)) edits.push({ lowerName, value: byteTextOf(option), mode: modeOf(option) })
  }
  return edits
}

/** Headers for a client. A value that is not valid in a header is left out. */
export function clientHeaders(options: readonly HeaderOption[] | undefined): (readonly [string, string])[] {
  return headerEdits(options).flatMap(({ lowerName, value }) =>
    value === undefined ? [] : [[lowerName, value] as const],
  )
}

/** As byte text. An invalid value is undefined: it removes the header, so that a client cannot choose the value (decision A-89). */
function byteTextOf({ header }: HeaderOption): string | undefined {
  if (header?.rawValue === undefined || header.rawValue.length === 0) return fieldText(header?.value ?? '')
  let text = ''
  for (const byte of header.rawValue) text += String.fromCharCode(byte)
  return isFieldValue(text) ? trimSpace(text) : undefined
}

/** Without a word about it, a header replaces that of the client, who could choose the value otherwise. */
function modeOf({ append, appendAction }: HeaderOption): HeaderEdit['mode'] {
  if (appendAction === ADD_IF_ABSENT) return 'add-if-absent'
  if (appendAction === OVERWRITE_IF_EXISTS) return 'set-if-present'
  return append?.value === true ? 'append' : 'set'
}
