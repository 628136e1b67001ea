import type { Resource } from '#store/resources/resource.ts'
import { ApiError, invalid } from '../http/api-error.ts'
import { groupVersion } from '../kinds/collection.ts'
import type { ScaleFields, ServedKind, WrittenObject } from '../kinds/served-kind.ts'
import { isObject, objectOf } from './read-object.ts'
import { inVersion } from './render.ts'
import type { ResourceRequest } from './resource-request.ts'

const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const
const REPLICAS = 'spec.replicas'
const MAX_REPLICAS = 2 ** 31 - 1

/** The scale subresource of an object (Kubernetes, autoscaling/v1). */
export function scaleOf({ scale }: ResourceRequest['kind'], object: Resource): object {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale!
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const selector = labelSelectorPath === undefined ? undefined : valueAt(object, labelSelectorPath)
  return {
    kind: SCALE.kind,
    apiVersion: `${SCALE.group}/${SCALE.version}`,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: countAt(object, specReplicasPath) },
    status: {
      replicas: countAt(object, statusReplicasPath),
      ...(typeof selector === 'string' && selector !== '' ? { selector } : {}),
    },
  }
}

/**
 * The object with the replicas of a Scale that a client wrote.
 * @throws ApiError BadRequest, Invalid
 */
export function scaled(request: ResourceRequest, before: Resource, value: unknown): WrittenObject {
  const scale = readScale(request, value)
  const { uid = before.metadata.uid, resourceVersion = '' } = scale.metadata
  const object = withReplicas(request.kind, inVersion(before, request.kind), scale)
  return { ...object, metadata: { ...object.metadata, uid, resourceVersion } }
}

/**
 * A Scale to apply, as configuration of the object that it belongs to.
 * @throws ApiError BadRequest, Invalid
 */
export function scaleConfiguration(request: ResourceRequest, value: unknown): WrittenObject {
  const scale = readScale(request, value)
  const { kind } = request
  return withReplicas(kind, { apiVersion: groupVersion(kind), kind: kind.kind, metadata: scale.metadata }, scale)
}

function readScale({ kind, target }: ResourceRequest, value: unknown): WrittenObject {
  return objectOf(value, { kind: { ...kind, ...SCALE }, target }, target.name)
}

function withReplicas({ scale }: ServedKind, object: object, written: WrittenObject): WrittenObject {
  return withValueAt(object, partsOf(scale!.specReplicasPath), replicasOf(written)) as WrittenObject
}

/** @throws ApiError Invalid */
function replicasOf({ spec, metadata }: WrittenObject): number {
  // Go leaves out a zero.
  const replicas = isObject(spec) ? (spec.replicas ?? 0) : 0
  if (Number.isInteger(replicas) && (replicas as number) >= 0 && (replicas as number) <= MAX_REPLICAS)
    return replicas as number
  const message = `Invalid value: ${JSON.stringify(replicas)}: must be an integer from 0 to ${MAX_REPLICAS}`
  throw invalid(SCALE, metadata.name, [{ reason: 'FieldValueInvalid', field: REPLICAS, message }])
}

/** `.spec.replicas`: definitions may name members only. */
function partsOf(path: ScaleFields['specReplicasPath']): readonly string[] {
  return path.split('.').slice(1)
}

function valueAt(object: Resource, path: string): unknown {
  return partsOf(path).reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), object)
}

/**
 * A missing number is 0, as in Go.
 * @throws ApiError InternalError if the object has no number there
 */
function countAt(object: Resource, path: string): number {
  const value = valueAt(object, path) ?? 0
  if (typeof value === 'number') return value
  throw new ApiError('InternalError', `${path} of the object is not a number`)
}

function withValueAt(value: unknown, [name, ...rest]: readonly string[], replicas: number): unknown {
  if (name === undefined) return replicas
  const members = isObject(value) ? value : {}
  return { ...members, [name]: withValueAt(members[name], rest, replicas) }
}
