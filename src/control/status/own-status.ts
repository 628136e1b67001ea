import type { ApiObject } from '#api/object.ts'
import { type ConditionDraft, conditionsOf } from '../context/condition.ts'
import type { ObjectStatus } from '../translation.ts'
import { withForeignConditions } from './foreign-conditions.ts'

/** The status that this controller reports for an object, before newer versions that are refused are taken into account. */
export interface OwnStatus {
  readonly object: Pick<ApiObject, 'kind' | 'metadata' | 'status'>
  readonly status: ObjectStatus['status']
}

/** @param refusedEdit why the newest version of the object is refused @param controller `controllerName` of our entries */
export function completeStatus(
  { object, status }: OwnStatus,
  refusedEdit: string | undefined,
  controller: string,
): ObjectStatus {
  const { namespace, name } = object.metadata
  const own =
    refusedEdit === undefined
      ? status
      : withCondition(status, refusedEditCondition(conditionsOf(object), refusedEdit), controller)
  return { kind: object.kind, namespace, name, status: withForeignConditions(own, object.status) }
}

type Status = ObjectStatus['status']

/** Present while the last valid version of an object is in force, because a newer one was refused (decision A-09). */
function refusedEditCondition(condition: ReturnType<typeof conditionsOf>, why: string): ConditionDraft {
  const message = `the last valid version is in force, because the newer one is refused; correct it: ${why}`
  return condition('Current', 'False', 'EditRefused', message)
}

/** Adds a condition to every list of conditions of this controller, except those of listeners. */
function withCondition(status: Status, condition: ConditionDraft, controller: string): Status {
  return Object.fromEntries(
    Object.entries(status).map(([name, value]) => {
      if (!Array.isArray(value)) return [name, value]
      if (name === 'conditions') return [name, [...value, condition]]
      return [
        name,
        value.map((entry) => (isOwn(entry, controller) ? withCondition(entry, condition, controller) : entry)),
      ]
    }),
  )
}

function isOwn(entry: unknown, controller: string): entry is Status {
  return (entry as { readonly controllerName?: unknown } | null)?.controllerName === controller
}
