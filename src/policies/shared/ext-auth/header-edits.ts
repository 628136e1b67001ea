import { isServerField, serverValue } from '../fields/server-fields.ts'
import { ADD_IF_ABSENT, type HeaderOption, OVERWRITE_IF_EXISTS } from './check-messages.ts'
import type { HeaderEdit } from './verdict.ts'

/**
 * The edits that an authorization server asks for; those of fields that it may not set are left out. An invalid value removes the header, so that
 * a client cannot choose the value (decision A-89).
 */
export function headerEdits(options: readonly HeaderOption[] = []): HeaderEdit[] {
  const edits: HeaderEdit[] = []
  for (const option of options) {
    const lowerName = option.header?.key?.toLowerCase() ?? ''
    if (isServerField(lowerName)) edits.push({ lowerName, value: serverValue(option.header), mode: modeOf(option) })
  }
  return edits
}

/** Headers for a client. A value that is not valid in a header is left out. */
export function clientHeaders(options: readonly HeaderOption[] | undefined): (readonly [string, string])[] {
  return headerEdits(options).flatMap(({ lowerName, value }) =>
    value === undefined ? [] : [[lowerName, value] as const],
  )
}

/** Without a word about it, a header replaces that of the client, who could choose the value otherwise. */
function modeOf({ append, appendAction }: HeaderOption): HeaderEdit['mode'] {
  if (appendAction === ADD_IF_ABSENT) return 'add-if-absent'
  if (appendAction === OVERWRITE_IF_EXISTS) return 'set-if-present'
  return append?.value === true ? 'append' : 'set'
}
