import type { ApiObject } from '#api/object.ts'
import type { ObjectStatus } from '../translation.ts'
import { conditionsOf } from './condition.ts'
import { withForeignConditions } from './foreign-conditions.ts'
import { refusedEditCondition, withCondition } from './refused-edit.ts'

/** What this controller says about an object, whatever becomes of its next version. */
export interface OwnStatus {
  readonly object: Pick<ApiObject, 'kind' | 'metadata' | 'status'>
  readonly status: ObjectStatus['status']
}

/** @param refusedEdit why the newest version of the object is refused */
export function completeStatus({ object, status }: OwnStatus, refusedEdit: string | undefined): ObjectStatus {
  const { namespace, name } = object.metadata
  const own =
    refusedEdit === undefined ? status : withCondition(status, refusedEditCondition(conditionsOf(object), refusedEdit))
  return { kind: object.kind, namespace, name, status: withForeignConditions(own, object.status) }
}
