import { compareText } from '#base/compare-text.ts'
import { parseJson } from '#base/parse-json.ts'
import type { Resource } from '#store/resources/resource.ts'
import { ApiError } from '../http/api-error.ts'
import { collectionOf } from '../kinds/collection.ts'
import { isObject } from './read-object.ts'
import { type ListMeta, renderList } from './render.ts'
import type { ApiAnswer, ApiState, ResourceRequest } from './resource-request.ts'
import { selected } from './selected.ts'
import type { Snapshots } from './snapshots.ts'

/** Where the next page begins. */
interface PageStart {
  readonly revision: number
  /** The last object of the page before. */
  readonly namespace: string
  readonly name: string
}

/** @throws ApiError BadRequest, Expired */
export function list({ table }: ApiState, snapshots: Snapshots, request: ResourceRequest): ApiAnswer {
  const { kind, query, target } = request
  const limit = limitOf(query)
  const from = query.get('continue') ? readStart(query.get('continue')!) : undefined
  if (from === undefined) checkRevision(query, table.revision)
  const revision = from?.revision ?? table.revision
  const collection = collectionOf(kind)
  const snapshot = `${collection} ${revision}`
  const all = revision === table.revision ? table.list(collection) : snapshots.find(snapshot)
  if (all === undefined) throw expired('The provided continue parameter is too old: list from the beginning')
  const matches = selected(request)
  const isIn = ({ metadata }: Resource) => target.namespace === undefined || metadata.namespace === target.namespace
  const isLeft = (object: Resource) => from === undefined || compareStart(object, from) > 0
  const found = all.filter((object) => isIn(object) && isLeft(object) && (matches === undefined || matches(object)))
  const page = limit === undefined ? found : found.slice(0, limit)
  if (page.length < found.length) snapshots.keep(snapshot, all)
  const left = found.length - page.length
  const metadata: ListMeta = {
    resourceVersion: String(revision),
    ...(left === 0 ? {} : { continue: writeStart(revision, page.at(-1)!) }),
    // The platform does not count with selectors.
    ...(left === 0 || matches !== undefined ? {} : { remainingItemCount: left }),
  }
  return { status: 200, body: renderList(page, metadata, request) }
}

export function expired(message: string): ApiError {
  return new ApiError('Expired', message)
}

function limitOf(query: URLSearchParams): number | undefined {
  const text = query.get('limit')
  if (!text) return undefined
  const limit = Number(text)
  if (!/^\d*$/.test(text) || !Number.isSafeInteger(limit))
    throw new ApiError('BadRequest', `limit: must be a count, not "${text}"`)
  return limit === 0 ? undefined : limit
}

/**
 * The table has only its newest state, which satisfies every version that clients may name, except exact older ones.
 * @throws ApiError BadRequest, Expired, Timeout
 */
function checkRevision(query: URLSearchParams, current: number): void {
  const text = query.get('resourceVersion')
  const match = query.get('resourceVersionMatch')
  if (match && !['Exact', 'NotOlderThan'].includes(match)) {
    throw new ApiError('BadRequest', `resourceVersionMatch: must be Exact or NotOlderThan, not "${match}"`)
  }
  if (!text) {
    if (match) throw new ApiError('BadRequest', 'resourceVersionMatch is forbidden unless resourceVersion is provided')
    return
  }
  const revision = readRevision(text)
  if (revision > current) throw tooNew(revision, current)
  if (match === 'Exact' && revision !== current) throw expired(`The resourceVersion ${text} is no longer available`)
}

/** @throws ApiError BadRequest */
export function readRevision(text: string): number {
  const revision = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(revision)) return revision
  throw new ApiError('BadRequest', `resourceVersion: Invalid value: "${text}": must be a version of this server`)
}

export function tooNew(revision: number, current: number): ApiError {
  const message = `Too large resource version: ${revision}, current: ${current}`
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }]
  return new ApiError('Timeout', message, { causes, retryAfterSeconds: 1 })
}

function writeStart(revision: number, { metadata: { namespace = '', name } }: Resource): string {
  return Buffer.from(JSON.stringify({ revision, namespace, name })).toString('base64url')
}

function readStart(token: string): PageStart {
  let value: unknown
  try {
    value = parseJson(Buffer.from(token, 'base64url').toString())
  } catch {
    value = undefined
  }
  if (isObject(value)) {
    const { revision, namespace, name } = value
    if (typeof revision === 'number' && typeof namespace === 'string' && typeof name === 'string') {
      return { revision, namespace, name }
    }
  }
  throw new ApiError('BadRequest', 'continue key is not valid')
}

function compareStart({ metadata }: Resource, { namespace, name }: PageStart): number {
  return compareText(metadata.namespace ?? '', namespace) || compareText(metadata.name, name)
}
