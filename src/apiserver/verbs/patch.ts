import type { JsonObject } from '#base/json.ts'
import type { Resource } from '#store/resources/resource.ts'
import { ApiError } from '../http/api-error.ts'
import { applyJsonPatch } from '../patch/json-patch.ts'
import { applyMergePatch } from '../patch/merge-patch.ts'
import type { Patched } from '../patch/patched.ts'
import type { Part } from './prepare.ts'
import { objectOf, readJson, textOf } from './read-object.ts'
import { inVersion } from './render.ts'
import type { ApiAnswer, ApiState, RequestBody, ResourceRequest } from './resource-request.ts'
import { storeUpdate, writable } from './update.ts'
import { writeOptions } from './write-options.ts'

type Apply = (object: JsonObject, patch: unknown) => Patched<unknown>

/** How each media type changes an object (RFC 6902, RFC 7386). */
const PATCHES: Readonly<Record<string, Apply>> = {
  'application/json-patch+json': applyJsonPatch,
  'application/merge-patch+json': applyMergePatch,
}

/** @throws ApiError */
export function patch(state: ApiState, request: ResourceRequest, part: Part): ApiAnswer {
  const { body, kind, target } = request
  const apply = patchOf(body)
  const options = writeOptions(request.query, request.userAgent)
  const before = writable(state, request, part)
  const { value, warnings } = readJson(textOf(body!), options.unknownFields)
  const { value: patched, failure } = apply(jsonOf(inVersion(before, kind)), value)
  if (failure !== undefined)
    throw new ApiError(failure.reason, failure.message, { name: target.name!, kind: kind.plural })
  const written = objectOf(patched, request, target.name)
  return storeUpdate(state, request, { before, written, part, options, warnings })
}

/** @throws ApiError UnsupportedMediaType */
function patchOf(body: RequestBody | undefined): Apply {
  const type = body?.type.type ?? ''
  const apply = Object.hasOwn(PATCHES, type) ? PATCHES[type] : undefined
  if (apply !== undefined) return apply
  const accepted = Object.keys(PATCHES).join(', ')
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`
  throw new ApiError('UnsupportedMediaType', message)
}

/** All objects of the table are JSON. */
function jsonOf(object: Resource): JsonObject {
  return object as unknown as JsonObject
}
