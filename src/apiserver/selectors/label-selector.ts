import { type LabelSelector, selectorFault } from '#control/context/label-selector.ts'
import { ApiError } from '../http/api-error.ts'

/** Each is compared with each object of a list. */
export const MAX_REQUIREMENTS = 1000

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
  const tests = matchExpressions.map(testOf)
  return (labels = {}) => tests.every((holds) => holds(labels))
}

/** Lists of values may be long. */
function testOf({ key, operator, values = [] }: Expressions[number]): LabelTest {
  const wanted = new Set(values)
  const has = (labels: Labels) => Object.hasOwn(labels, key)
  const isWanted = (labels: Labels) => has(labels) && wanted.has(labels[key]!)
  switch (operator) {
    case 'In':
      return isWanted
    case 'NotIn':
      return (labels) => !isWanted(labels)
    case 'Exists':
      return has
    default:
      return (labels) => !has(labels)
  }
}

type Labels = Readonly<Record<string, string>>
type LabelTest = (labels: Labels) => boolean

const REQUIREMENT =
  /^\s*(?:!\s*(?<absent>[^\s,()=!]+)|(?<key>[^\s,()=!]+)\s*(?:(?<equals>==?|!=)\s*(?<value>[^\s,()=!]*)|(?<set>in|notin)\s*\((?<values>[^()]*)\))?)\s*(?:,|$)/

function readRequirements(text: string): Expressions {
  const found: Expressions[number][] = []
  // The pattern takes long if it has to try each end of a long gap.
  let rest = text.replace(/\s+/g, ' ')
  while (rest.trim() !== '') {
    if (found.length === MAX_REQUIREMENTS) throw unreadable(text, `it has more than ${MAX_REQUIREMENTS} requirements`)
    const read = REQUIREMENT.exec(rest)
    if (read === null)
      throw unreadable(text, `found "${rest.trim().slice(0, MAX_QUOTED)}", expected a requirement such as app=shop`)
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

const MAX_QUOTED = 1000

function unreadable(text: string, fault: string): ApiError {
  return new ApiError(
    'BadRequest',
    `unable to parse requirement: ${fault} (labelSelector=${JSON.stringify(text.slice(0, MAX_QUOTED))})`,
  )
}
