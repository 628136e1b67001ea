import type { ConfigProblem, RefusedValue } from '#base/config-problem.ts'
import type { FindingCode } from '#base/findings.ts'
import type { Cause } from './served-kind.ts'

/** Codes whose reason is not that a value is invalid. */
const REASONS: { readonly [Code in FindingCode]?: Cause['reason'] } = {
  required: 'FieldValueRequired',
  'wrong-type': 'FieldValueTypeInvalid',
  'unknown-value': 'FieldValueNotSupported',
  duplicate: 'FieldValueDuplicate',
  'too-long': 'FieldValueTooLong',
  'too-many-items': 'FieldValueTooMany',
  'files-only': 'FieldValueForbidden',
  'not-together': 'FieldValueForbidden',
}

const TITLES: { readonly [Reason in Cause['reason']]?: string } = {
  FieldValueRequired: 'Required value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  FieldValueForbidden: 'Forbidden',
}

/**
 * A problem of a field as API servers report it: `Invalid value: 0: must be at least 1` (`field.Error` of Kubernetes). Values of free text are
 * left out, as they may be secrets.
 */
export function causeOf({ path, code, message, refused }: ConfigProblem): Cause {
  const reason = REASONS[code] ?? 'FieldValueInvalid'
  const title = TITLES[reason] ?? 'Invalid value'
  const value = refused === undefined ? '' : `: ${JSON.stringify(refused.value)}`
  const detail = detailOf(message, refused)
  return { reason, message: `${title}${value}${detail === '' ? '' : `: ${detail}`}`, field: path }
}

function detailOf(message: string, refused: RefusedValue | undefined): string {
  if (message === 'is required') return ''
  if (refused?.supported === undefined) return message
  const { supported, hint = '' } = refused
  return `supported values: ${supported.map((word) => JSON.stringify(word)).join(', ')}${hint}`
}
