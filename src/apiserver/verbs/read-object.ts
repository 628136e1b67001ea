import { EXACT_NAMES, findAmbiguousMember } from '#base/json-ambiguity.ts'
import { parseJson } from '#base/parse-json.ts'
import { parseDocuments } from '#store/parse-documents.ts'
import { ApiError } from '../http/api-error.ts'
import { groupVersion } from '../kinds/collection.ts'
import type { WrittenObject } from '../kinds/served-kind.ts'
import { decodeObject, PROTOBUF, UnreadableObject } from '../protobuf/decode-object.ts'
import { checkDepth } from './check-depth.ts'
import type { RequestBody, ResourceRequest } from './resource-request.ts'

type Members = Readonly<Record<string, unknown>>

/** A value that a client sent, and what to tell the client about it. */
export interface ReadBody {
  readonly value: unknown
  readonly warnings: readonly string[]
}

const JSON_TYPES = ['application/json', '']
const YAML_TYPES = ['application/yaml', 'text/yaml']

/**
 * Reads the body of a request as JSON, YAML, or protobuf for kinds of the platform.
 * @throws ApiError UnsupportedMediaType, BadRequest
 */
export function readBody(body: RequestBody | undefined, unknownFields: 'refuse' | 'warn' | 'ignore'): ReadBody {
  if (body === undefined || body.bytes.length === 0) throw new ApiError('BadRequest', 'the request has no body')
  const { type } = body.type
  if (type === PROTOBUF) return { value: readProtobuf(body.bytes), warnings: [] }
  if (JSON_TYPES.includes(type)) return readJson(textOf(body), unknownFields)
  if (YAML_TYPES.includes(type)) return { value: readYaml(textOf(body)), warnings: [] }
  const accepted = ['application/json', 'application/yaml', PROTOBUF].join(', ')
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`
  throw new ApiError('UnsupportedMediaType', message)
}

/** @throws ApiError BadRequest */
export function textOf({ bytes }: RequestBody): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ApiError('BadRequest', 'the body is not UTF-8')
  }
}

function readProtobuf(bytes: Uint8Array): unknown {
  try {
    return decodeObject(bytes)
  } catch (error) {
    if (error instanceof UnreadableObject) throw new ApiError('BadRequest', error.message)
    throw error
  }
}

/** @throws ApiError BadRequest */
export function readJson(text: string, unknownFields: 'refuse' | 'warn' | 'ignore'): ReadBody {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    throw new ApiError('BadRequest', `the body is not JSON: ${(error as Error).message}`)
  }
  checkDepth(value)
  const repeated = findAmbiguousMember(text, EXACT_NAMES)
  if (repeated === undefined || unknownFields === 'ignore') return { value, warnings: [] }
  const message = `duplicate field "${repeated.key}"`
  if (unknownFields === 'refuse') throw new ApiError('BadRequest', `strict decoding error: ${message}`)
  return { value, warnings: [message] }
}

/** @throws Error if it is no YAML, or more than one document */
function parseDocument(text: string): unknown {
  const [document, ...others] = parseDocuments(text, { merge: true })
  if (document === undefined) return null
  const [error] = document.errors
  if (error !== undefined) throw error
  if (others.length > 0) throw new Error('it has several documents')
  return document.toJS()
}

/** @throws ApiError BadRequest */
export function readYaml(text: string): unknown {
  let value: unknown
  try {
    value = parseDocument(text)
  } catch (error) {
    throw new ApiError('BadRequest', `the body is not YAML: ${(error as Error).message}`)
  }
  checkDepth(value)
  return value
}

/**
 * Checks that a value is an object of the kind, namespace and name that the request names, and sets what it leaves out (decision A-01).
 * @param name undefined: the object names itself
 * @throws ApiError BadRequest
 */
export function objectOf(
  value: unknown,
  { kind, target }: Pick<ResourceRequest, 'kind' | 'target'>,
  name: string | undefined,
): WrittenObject {
  if (!isObject(value)) throw new ApiError('BadRequest', 'the body must be an object')
  checkDepth(value)
  const apiVersion = groupVersion(kind)
  checkSame('apiVersion', value.apiVersion, apiVersion)
  checkSame('kind', value.kind, kind.kind)
  const { metadata = {} } = value
  if (!isObject(metadata)) throw new ApiError('BadRequest', 'metadata must be an object')
  const written = textIn(metadata, 'name')
  if (name !== undefined && written !== undefined && written !== name) {
    const message = `the name of the object (${written}) does not match the name on the URL (${name})`
    throw new ApiError('BadRequest', message)
  }
  const named = { ...metadata, name: name ?? written ?? '' }
  return { ...value, apiVersion, kind: kind.kind, metadata: { ...named, ...namespaceOf(metadata, kind, target) } }
}

function namespaceOf(
  metadata: Members,
  { namespaced }: ResourceRequest['kind'],
  { namespace = 'default' }: ResourceRequest['target'],
): { readonly namespace?: string } {
  const written = textIn(metadata, 'namespace')
  if (!namespaced) return written === undefined ? {} : { namespace: written }
  if (written !== undefined && written !== namespace) {
    const message = `the namespace of the provided object does not match the namespace sent on the request (${written}, ${namespace})`
    throw new ApiError('BadRequest', message)
  }
  return { namespace }
}

function checkSame(field: string, written: unknown, served: string): void {
  if (written === undefined || written === '' || written === served) return
  const message = `the ${field} in the data (${String(written)}) does not match the expected ${field} (${served})`
  throw new ApiError('BadRequest', message)
}

/** Empty texts and null are absent, as in Go. */
function textIn(metadata: Members, field: string): string | undefined {
  const value = metadata[field] ?? undefined
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw new ApiError('BadRequest', `metadata.${field} must be a string`)
  return value
}

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
