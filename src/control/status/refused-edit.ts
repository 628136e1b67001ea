import { CONTROLLER_NAME } from '../controller.ts'
import type { ObjectStatus } from '../translation.ts'
import type { ConditionDraft, conditionsOf } from './condition.ts'

type Status = ObjectStatus['status']

/** Present while the last valid version of an object is in force, because a newer one was refused (decision A-09). */
export function refusedEditCondition(condition: ReturnType<typeof conditionsOf>, why: string): ConditionDraft {
  const message = `the last valid version is in force, because the newer one is refused; correct it: ${why}`
  return condition('Current', 'False', 'EditRefused', message)
}

/** Adds a condition to every list of conditions of this controller, except those of listeners. */
export function withCondition(status: Status, condition: ConditionDraft): Status {
  return Object.fromEntries(
    Object.entries(status).map(([name, value]) => {
      if (!Array.isArray(value)) return [name, value]
      if (name === 'conditions') return [name, [...value, condition]]
      return [name, value.map((entry) => (isOwn(entry) ? withCondition(entry, condition) : entry))]
    }),
  )
}

function isOwn(entry: unknown): entry is Status {
  return (entry as { readonly controllerName?: unknown } | null)?.controllerName === CONTROLLER_NAME
}
