import type { Head } from '#net/http/head.ts'
import { ADD_IF_ABSENT, type HeaderOption, OVERWRITE_IF_EXISTS } from './header-option.ts'
import { isServerField, serverValue } from './server-fields.ts'
import { joinedSpellings } from './spellings.ts'

/** `value`: undefined removes the header. */
export interface HeaderEdit {
  readonly lowerName: string
  readonly value: string | undefined
  readonly mode: 'set' | 'append' | 'add-if-absent' | 'set-if-present'
}

/**
 * The edits that a server asks for; those of fields that it may not set are left out. An invalid value removes the header, so that a client
 * cannot choose the value (decision A-89).
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

export function editHeader(head: Head, { lowerName, value, mode }: HeaderEdit): void {
  if (mode === 'add-if-absent' && joinedSpellings(head, lowerName) !== undefined) return
  if (mode === 'set-if-present' && joinedSpellings(head, lowerName) === undefined) return
  if (value === undefined) head.remove(lowerName)
  else if (mode === 'append') head.append(lowerName, value)
  else head.set(lowerName, value)
}

/** Without a word about it, a header replaces that of the client, who could choose the value otherwise. */
function modeOf({ append, appendAction }: HeaderOption): HeaderEdit['mode'] {
  if (appendAction === ADD_IF_ABSENT) return 'add-if-absent'
  if (appendAction === OVERWRITE_IF_EXISTS) return 'set-if-present'
  return append?.value === true ? 'append' : 'set'
}
