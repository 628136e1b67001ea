import { notFound } from '../http/api-error.ts'
import type { Part } from './prepare.ts'
import { renderObject } from './render.ts'
import { type ApiAnswer, type ApiState, keyIn, type ResourceRequest } from './resource-request.ts'
import { scaleOf } from './scale.ts'

/** @throws ApiError NotFound */
export function get({ table }: ApiState, request: ResourceRequest, part: Part): ApiAnswer {
  const object = table.get(keyIn(request))
  if (object === undefined) throw notFound(request.kind, request.target.name!)
  return { status: 200, body: part === 'scale' ? scaleOf(request.kind, object) : renderObject(object, request) }
}
