/**
 * Sets `lastTransitionTime` in the conditions of a new status: the stored time if the `status` of the condition is unchanged, else `now`.
 * Conditions that already have a time are unchanged.
 * @param before the stored status
 * @param now RFC 3339
 */
export function stampStatus(next: unknown, before: unknown, now: string): unknown {
  if (Array.isArray(next)) return next.map((item) => stampStatus(item, counterpart(item, before), now))
  if (!isRecord(next)) return next
  if (isCondition(next)) return { lastTransitionTime: timeOf(next, before, now), ...next }
  return Object.fromEntries(
    Object.entries(next).map(([name, value]) => [name, stampStatus(value, memberOf(before, name), now)]),
  )
}

/**
 * Stamps the statuses of one change. Statuses that share one object, and before, also share the result, as those of thousands of routes do.
 * @param now as in `stampStatus`
 */
export function stampTogether(now: string): (next: unknown, before: unknown) => unknown {
  const stamped = new Map<unknown, { readonly before: unknown; readonly result: unknown }>()
  return (next, before) => {
    const known = stamped.get(next)
    if (known !== undefined && known.before === before) return known.result
    const result = stampStatus(next, before, now)
    stamped.set(next, { before, result })
    return result
  }
}

interface Condition extends Readonly<Record<string, unknown>> {
  readonly type: string
  readonly status: string
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function isCondition(value: Readonly<Record<string, unknown>>): value is Condition {
  return typeof value.type === 'string' && typeof value.status === 'string'
}

function timeOf(next: Condition, before: unknown, now: string): unknown {
  return memberOf(before, 'status') === next.status ? (memberOf(before, 'lastTransitionTime') ?? now) : now
}

function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined
}

/** The members that identify an item of a list in a status, such as the type of a condition or the name of a listener. */
const IDENTITY = ['type', 'name', 'parentRef', 'ancestorRef', 'controllerName']

function counterpart(item: unknown, before: unknown): unknown {
  if (!Array.isArray(before)) return undefined
  return before.find((other) =>
    IDENTITY.every((name) => JSON.stringify(memberOf(other, name)) === JSON.stringify(memberOf(item, name))),
  )
}
