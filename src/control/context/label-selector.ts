/** A Kubernetes `LabelSelector`: all requirements must match. An empty selector selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly LabelExpression[]
}

interface LabelExpression {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

export type Labels = Readonly<Record<string, string>>

/** Whether the selector matches the labels. A selector that Kubernetes would reject selects nothing, so an invalid requirement fails closed. */
export function selectsLabels(selector: LabelSelector, labels: Labels): boolean {
  return labelMatcher(selector)(labels)
}

/** The same for many labels: the selector is checked once. */
export function labelMatcher(selector: LabelSelector): (labels: Labels) => boolean {
  if (selectorFault(selector) !== undefined) return () => false
  const { matchLabels = {}, matchExpressions = [] } = selector
  return (labels) => hasLabels(labels, matchLabels) && matchExpressions.every(matcherOf(labels))
}

export function hasLabels(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value)
}

function matcherOf(labels: Labels) {
  return ({ key, operator, values = [] }: LabelExpression): boolean => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined
    switch (operator) {
      case 'In':
        return value !== undefined && values.includes(value)
      case 'NotIn':
        return value === undefined || !values.includes(value)
      case 'Exists':
        return value !== undefined
      case 'DoesNotExist':
        return value === undefined
      default:
        return false
    }
  }
}

/** Why Kubernetes would reject a selector; undefined: it is valid. */
export function selectorFault({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string | undefined {
  const conditions = [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
    ...matchExpressions,
  ]
  for (const condition of conditions) {
    const fault = conditionFault(condition)
    if (fault !== undefined) return fault
  }
  return undefined
}

const LABEL_NAME = /^[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?$/
const LABEL_PREFIX = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const MAX_PREFIX = 253

function conditionFault({ key, operator, values = [] }: LabelExpression): string | undefined {
  if (!isLabelKey(key)) return `${JSON.stringify(key)} is not a valid label key`
  const compares = operator === 'In' || operator === 'NotIn'
  if (compares && values.length === 0) return `operator ${operator} on ${key} requires values`
  if (!compares && values.length > 0) return `operator ${operator} on ${key} does not allow values`
  const bad = values.find((value) => value !== '' && !LABEL_NAME.test(value))
  return bad === undefined ? undefined : `${JSON.stringify(bad)} is not a valid label value`
}

/** A label name with an optional prefix: a DNS name and a slash. */
function isLabelKey(key: string): boolean {
  const slash = key.indexOf('/')
  if (!LABEL_NAME.test(key.slice(slash + 1))) return false
  return slash < 0 || (slash <= MAX_PREFIX && LABEL_PREFIX.test(key.slice(0, slash)))
}
