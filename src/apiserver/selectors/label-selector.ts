import { type LabelSelector, selectorFault, selectsLabels } from '#control/label-selector.ts'
import { ApiError } from '../http/api-error.ts'

type Expressions = NonNullable<LabelSelector['matchExpressions']>

/** Whether an object has the labels that a client selects. */
export type LabelMatch = (labels: Readonly<Record<string, string>> | undefined) => boolean

/**
 * Reads the parameter `labelSelector` (Kubernetes, "Labels and selectors"): `app=shop,tier in (web, api),!old`.
 * @throws ApiError BadRequest
 */
export function labelMatch(text: string): LabelMatch {
  const matchExpressions = readRequirements(text)
  const fault = selectorFault({ matchExpressions })
  if (fault !== undefined) throw unreadable(text, fault)
  if (matchExpressions.length === 0) return () => true
  return (labels = {}) => selectsLabels({ matchExpressions }, labels)
}

const REQUIREMENT =
  /^\s*(?:!\s*(?<absent>[^\s,()=!]+)|(?<key>[^\s,()=!]+)\s*(?:(?<equals>==?|!=)\s*(?<value>[^\s,()=!]*)|(?<set>in|notin)\s*\((?<values>[^()]*)\))?)\s*(?:,|$)/

function readRequirements(text: string): Expressions {
  const found: Expressions[number][] = []
  let rest = text
  while (rest.trim() !== '') {
    const read = REQUIREMENT.exec(rest)
    if (read === null) throw unreadable(text, `found "${rest.trim()}", expected a requirement such as app=shop`)
    found.push(requirement(read.groups!))
    const isLast = !read[0].endsWith(',')
    rest = rest.slice(read[0].length)
    if (!isLast && rest.trim() === '') throw unreadable(text, 'it ends with a comma')
  }
  return found
}

function requirement({ absent, key = '', equals, value = '', set, values = '' }: Record<string, string | undefined>) {
  if (absent !== undefined) return { key: absent, operator: 'DoesNotExist' }
  if (equals !== undefined) return { key, operator: equals === '!=' ? 'NotIn' : 'In', values: [value] }
  if (set === undefined) return { key, operator: 'Exists' }
  return { key, operator: set === 'in' ? 'In' : 'NotIn', values: values.split(',').map((one) => one.trim()) }
}

function unreadable(text: string, fault: string): ApiError {
  return new ApiError('BadRequest', `unable to parse requirement: ${fault} (labelSelector=${JSON.stringify(text)})`)
}
