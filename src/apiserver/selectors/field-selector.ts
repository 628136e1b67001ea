import type { Resource } from '#store/resources/resource.ts'
import { ApiError } from '../http/api-error.ts'
import type { ServedKind } from '../kinds/served-kind.ts'
import { MAX_REQUIREMENTS } from './label-selector.ts'

/** Whether an object has the fields that a client selects. */
export type FieldMatch = (object: Resource) => boolean

const OF_ALL = ['metadata.name', 'metadata.namespace']

/**
 * Reads the parameter `fieldSelector`: `metadata.name=shop,type!=Opaque`.
 * @throws ApiError BadRequest
 */
export function fieldMatch(
  text: string,
  { kind, selectableFields = [] }: Pick<ServedKind, 'kind' | 'selectableFields'>,
): FieldMatch {
  const allowed = [...OF_ALL, ...selectableFields]
  const terms = splitTerms(text)
  if (terms.length > MAX_REQUIREMENTS)
    throw new ApiError('BadRequest', `invalid field selector: it has more than ${MAX_REQUIREMENTS} requirements`)
  const tests = terms.map((term) => {
    const read = /^(?<field>[^=!]+)(?<operator>==?|!=)(?<value>.*)$/s.exec(term)
    if (read === null) throw new ApiError('BadRequest', `invalid field selector ${JSON.stringify(term)}`)
    const { field, operator, value } = read.groups as { field: string; operator: string; value: string }
    if (!allowed.includes(field)) {
      throw new ApiError('BadRequest', `field label not supported: ${field}; ${kind} has ${allowed.join(', ')}`)
    }
    const path = field.split('.')
    const wanted = value.replace(/\\([\\,=])/g, '$1')
    return (object: Resource) => (textAt(object, path) === wanted) === (operator !== '!=')
  })
  return (object) => tests.every((holds) => holds(object))
}

/** Commas in values are escaped. */
function splitTerms(text: string): readonly string[] {
  return (text.match(/(?:\\.|[^,\\])+/gs) ?? []).map((term) => term.trim()).filter(Boolean)
}

/** An absent field is an empty text. */
function textAt(object: unknown, path: readonly string[]): string {
  let value = object
  for (const name of path) {
    value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
  }
  return value === undefined || value === null ? '' : String(value)
}
