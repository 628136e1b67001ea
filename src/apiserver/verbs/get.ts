import { notFound } from '../http/api-error.ts'
import { renderObject } from './render.ts'
import { type ApiAnswer, type ApiState, keyIn, type ResourceRequest } from './resource-request.ts'

/** @throws ApiError NotFound */
export function get({ table }: ApiState, request: ResourceRequest): ApiAnswer {
  const object = table.get(keyIn(request))
  if (object === undefined) throw notFound(request.kind, request.target.name!)
  return { status: 200, body: renderObject(object, request) }
}
