import type { JsonObject } from '#base/json.ts'
import { applyJsonPatch } from '#patch/json-patch.ts'
import { mergeKeysOf } from '#patch/merge-keys.ts'
import { applyMergePatch } from '#patch/merge-patch.ts'
import type { Patched } from '#patch/patched.ts'
import { applyStrategicMergePatch } from '#patch/strategic-merge-patch.ts'
import { ApiError } from '../http/api-error.ts'
import type { ServedKind } from '../kinds/served-kind.ts'
import { APPLY, applyObject } from './apply-object.ts'
import type { Part } from './prepare.ts'
import { objectOf, readJson, textOf } from './read-object.ts'
import { inVersion } from './render.ts'
import type { ApiAnswer, ApiState, RequestBody, ResourceRequest } from './resource-request.ts'
import { scaled, scaleOf } from './scale.ts'
import { storeUpdate, writable } from './update.ts'
import { writeOptions } from './write-options.ts'

type Apply = (object: JsonObject, patch: unknown, kind: ServedKind) => Patched<unknown>

const STRATEGIC = 'application/strategic-merge-patch+json'

/** How each media type changes an object (RFC 6902; RFC 7386; Kubernetes, "Strategic Merge Patch"). */
const PATCHES: Readonly<Record<string, Apply>> = {
  'application/json-patch+json': applyJsonPatch,
  'application/merge-patch+json': applyMergePatch,
  [STRATEGIC]: (object, patch, { kind }) => applyStrategicMergePatch(object, patch, mergeKeysOf(kind)),
}

/** @throws ApiError */
export function patch(state: ApiState, request: ResourceRequest, part: Part): ApiAnswer {
  const { body, kind, target } = request
  if (body?.type.type === APPLY) return applyObject(state, request, part)
  const apply = patchOf(body, kind)
  const options = writeOptions(request.query, request.userAgent)
  const before = writable(state, request, part)
  const { value, warnings } = readJson(textOf(body!), options.unknownFields)
  const { value: patched, failure } = apply(
    jsonOf(part === 'scale' ? scaleOf(kind, before) : inVersion(before, kind)),
    value,
    kind,
  )
  // With a name but without causes, `kubectl` would not print the message.
  if (failure !== undefined) throw new ApiError(failure.reason, failure.message, {})
  const written = part === 'scale' ? scaled(request, before, patched) : objectOf(patched, request, target.name)
  return storeUpdate(state, request, { before, written, part, options, warnings })
}

/** @throws ApiError UnsupportedMediaType */
function patchOf(body: RequestBody | undefined, { hasStrategicMerge }: ServedKind): Apply {
  const types = Object.keys(PATCHES).filter((type) => hasStrategicMerge || type !== STRATEGIC)
  const accepted = [...types, APPLY].join(', ')
  const type = types.find((each) => each === body?.type.type)
  if (type !== undefined) return PATCHES[type]!
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`
  throw new ApiError('UnsupportedMediaType', message)
}

/** Objects of the table, and what is made of them, are JSON. */
function jsonOf(object: object): JsonObject {
  return object as unknown as JsonObject
}
