import type { Cause } from '../kinds/served-kind.ts'

/** Refusals of fields with the texts of an API server of Kubernetes (`field.Error`). */

export function requiredField(field: string, detail = ''): Cause {
  return { reason: 'FieldValueRequired', field, message: withDetail('Required value', detail) }
}

export function forbiddenField(field: string, detail: string): Cause {
  return { reason: 'FieldValueForbidden', field, message: withDetail('Forbidden', detail) }
}

/** @param value the refused value; undefined: it is not shown */
export function invalidField(field: string, value: unknown, detail: string): Cause {
  return { reason: 'FieldValueInvalid', field, message: withDetail(`Invalid value${shown(value)}`, detail) }
}

export function wrongType(field: string, value: unknown, detail: string): Cause {
  return { reason: 'FieldValueTypeInvalid', field, message: withDetail(`Invalid value${shown(value)}`, detail) }
}

export function duplicateField(field: string, value: unknown): Cause {
  return { reason: 'FieldValueDuplicate', field, message: `Duplicate value${shown(value)}` }
}

export function unsupportedField(field: string, value: unknown, supported: readonly unknown[]): Cause {
  const list = supported.map((each) => JSON.stringify(typeof each === 'string' ? each : JSON.stringify(each)))
  const message = `Unsupported value${shown(value)}: supported values: ${list.join(', ')}`
  return { reason: 'FieldValueNotSupported', field, message }
}

export function tooLongField(field: string, maxBytes: number): Cause {
  return {
    reason: 'FieldValueTooLong',
    field,
    message: `Too long: may not be more than ${maxBytes} ${maxBytes === 1 ? 'byte' : 'bytes'}`,
  }
}

export function tooManyItems(field: string, actual: number, max: number): Cause {
  const detail = `must have at most ${max} ${max === 1 ? 'item' : 'items'}`
  return { reason: 'FieldValueTooMany', field, message: `Too many: ${actual}: ${detail}` }
}

function shown(value: unknown): string {
  return value === undefined ? '' : `: ${JSON.stringify(value)}`
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`
}
