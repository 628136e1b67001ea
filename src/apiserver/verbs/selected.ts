import type { Resource } from '#store/resources/resource.ts'
import { fieldMatch } from '../selectors/field-selector.ts'
import { labelMatch } from '../selectors/label-selector.ts'
import type { ResourceRequest } from './resource-request.ts'

/**
 * Whether a request selects an object, by labels, fields and the name in its path; undefined: it selects all.
 * @throws ApiError BadRequest
 */
export function selected({ kind, query, target }: ResourceRequest): ((object: Resource) => boolean) | undefined {
  const labels = query.get('labelSelector')
  const fields = query.get('fieldSelector')
  const { name } = target
  const tests: ((object: Resource) => boolean)[] = []
  if (labels) {
    const match = labelMatch(labels)
    tests.push(({ metadata }) => match(metadata.labels))
  }
  if (fields) tests.push(fieldMatch(fields, kind))
  if (name !== undefined) tests.push(({ metadata }) => metadata.name === name)
  if (tests.length === 0) return undefined
  return (object) => tests.every((holds) => holds(object))
}
