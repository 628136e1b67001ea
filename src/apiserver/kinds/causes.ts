import type { ConfigProblem } from '#base/config-problem.ts'
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

/** A problem of a field as API servers report it. */
export function causeOf({ path, code, message }: ConfigProblem): Cause {
  return { reason: REASONS[code] ?? 'FieldValueInvalid', message, field: path }
}
