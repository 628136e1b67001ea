/** Reads the values that a path selects. */
export type JsonPath = (value: unknown) => readonly unknown[]

type Step = (value: unknown) => readonly unknown[]

/**
 * Compiles a path of a printer column (Kubernetes, "JSONPath support", the part that structural columns may use): `.spec.ports[*].port`,
 * `.status.conditions[?(@.type=="Ready")].status`, `.metadata.annotations['example\.com/a']`.
 * @returns undefined if it is malformed
 */
export function jsonPath(text: string): JsonPath | undefined {
  const inner = /^\{(.*)\}$/s.exec(text.trim())?.[1] ?? text.trim()
  const steps: Step[] = []
  let rest = inner.replace(/^\$/, '')
  while (rest !== '') {
    const read = STEP.exec(rest)
    if (read === null) return undefined
    steps.push(stepOf(read.groups!))
    rest = rest.slice(read[0].length)
  }
  return (value) => steps.reduce<readonly unknown[]>((values, step) => values.flatMap(step), [value])
}

const STEP =
  /^(?:\.(?<name>(?:[^.[\]\\'"]|\\.)+)|\[(?:(?<all>\*)|(?<index>-?\d+)|(?<quote>['"])(?<key>(?:\\.|(?!\k<quote>).)*)\k<quote>|\?\(\s*@(?<path>[^=!<>()]+?)\s*(?<operator>==|!=)\s*(?<wanted>"[^"]*"|'[^']*'|-?\d+|true|false)\s*\))\])/s

function stepOf({ name, all, index, key, path, operator, wanted }: Record<string, string | undefined>): Step {
  if (all !== undefined || name === '*') return childrenOf
  if (index !== undefined) return (value) => (Array.isArray(value) ? present(value.at(Number(index))) : [])
  if (path !== undefined) return filterOf(path, operator!, wanted!)
  const member = (name ?? key)!.replace(/\\(.)/g, '$1')
  return (value) => present(memberOf(value, member))
}

function filterOf(path: string, operator: string, wanted: string): Step {
  const left = jsonPath(path)
  const right = /^["']/.test(wanted) ? wanted.slice(1, -1) : wanted
  const holds = (item: unknown) => left?.(item).some((one) => String(one) === right) === (operator === '==')
  return (value) => (Array.isArray(value) ? value.filter(holds) : [])
}

function childrenOf(value: unknown): readonly unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : []
}

function memberOf(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
  return isObject ? (value as Record<string, unknown>)[name] : undefined
}

function present(value: unknown): readonly unknown[] {
  return value === undefined || value === null ? [] : [value]
}
