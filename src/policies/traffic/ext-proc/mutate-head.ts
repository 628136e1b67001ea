import { fromByteText } from '#base/byte-text.ts'
import { isTarget } from '#net/http/field-syntax.ts'
import type { Head } from '#net/http/head.ts'
import { foldName } from '#net/http/same-name.ts'
import { isHeadOnly } from '#net/http/trailer-fields.ts'
import { editHeader, headerEdits } from '../../shared/fields/header-edits.ts'
import { isServerField, serverValue } from '../../shared/fields/server-fields.ts'
import type { HeaderMutation } from './messages.ts'

/** Removes fields, then sets others. Fields that are not the processor's are left as they are (docs/behaviour/http.md, "External processing"). */
export function editFields(
  head: Head,
  mutation: HeaderMutation | undefined,
  mayHave: (lowerName: string) => boolean = isServerField,
): void {
  for (const name of mutation?.removeHeaders ?? []) {
    const lowerName = name.toLowerCase()
    if (mayHave(lowerName)) head.remove(lowerName)
  }
  for (const edit of headerEdits(mutation?.setHeaders)) if (mayHave(edit.lowerName)) editHeader(head, edit)
}

/** The same for trailers, which must not have fields that are read before the body. */
export function editTrailers(trailers: Head, mutation: HeaderMutation | undefined): void {
  editFields(trailers, mutation, (lowerName) => isServerField(lowerName) && !isHeadOnly(foldName(lowerName)))
}

/**
 * The same for a head. The processor may also change the path of a request and the status of a response.
 * @returns why the mutation is invalid, for operators
 */
export function mutateHead(
  head: Head,
  mutation: HeaderMutation | undefined,
  startLine: ':path' | ':status',
): string | undefined {
  editFields(head, mutation)
  for (const { header } of mutation?.setHeaders ?? []) {
    if (header?.key !== startLine) continue
    const value = serverValue(header) ?? ''
    if (!setStartLine(head, startLine, value)) return `${startLine} is invalid: ${JSON.stringify(fromByteText(value))}`
  }
  return undefined
}

function setStartLine(head: Head, name: ':path' | ':status', value: string): boolean {
  if (name === ':path') {
    if (!value.startsWith('/') || !isTarget(value)) return false
    head.target = value
    return true
  }
  if (!/^[2-5][0-9]{2}$/.test(value)) return false
  head.status = Number(value)
  return true
}
