import { collectionOf } from '../kinds/collection.ts'
import type { Cause } from '../kinds/served-kind.ts'

/** Reasons of `Status` objects (Kubernetes, `StatusReason`), with their HTTP status. */
const REASONS = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  Timeout: 504,
  ServiceUnavailable: 503,
  InsufficientStorage: 507,
} as const

export type Reason = keyof typeof REASONS

/** The object of an error, as `details` of a `Status` names it. */
export interface ErrorDetails {
  readonly name?: string
  readonly group?: string
  /** Plural name or kind, as Kubernetes does in the same place. */
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly (Cause | { readonly reason: string; readonly message: string; readonly field?: string })[]
  readonly retryAfterSeconds?: number
}

/** Ends a request with a `Status` object. The message is for the client. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly reason: Reason
  readonly details: ErrorDetails | undefined

  constructor(reason: Reason, message: string, details?: ErrorDetails) {
    super(message)
    this.reason = reason
    this.details = details
  }

  get code(): number {
    return REASONS[this.reason]
  }

  /** The `Status` object of Kubernetes (meta/v1). */
  toStatus(): FailureStatus {
    const { reason, message, code, details } = this
    return { ...STATUS, status: 'Failure', message, reason, ...(details === undefined ? {} : { details }), code }
  }
}

const STATUS = { kind: 'Status', apiVersion: 'v1', metadata: {} } as const

interface FailureStatus {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: object
  readonly status: 'Failure'
  readonly message: string
  readonly reason: Reason
  readonly details?: ErrorDetails
  readonly code: number
}

/** The answer to a request that has no object to return. */
export function successStatus(details: ErrorDetails): object {
  return { ...STATUS, status: 'Success', details }
}

/** Identifies a kind in messages: `gateways.gateway.networking.k8s.io`. */
interface Named {
  readonly group: string
  readonly plural: string
}

/** `gateways.gateway.networking.k8s.io "shop"` */
function nameIn({ group, plural }: Named, name: string): string {
  return `${collectionOf({ group, plural })} "${name}"`
}

export function notFound(kind: Named, name: string): ApiError {
  return new ApiError('NotFound', `${nameIn(kind, name)} not found`, detailsOf(kind, name))
}

export function alreadyExists(kind: Named, name: string): ApiError {
  return new ApiError('AlreadyExists', `${nameIn(kind, name)} already exists`, detailsOf(kind, name))
}

export function conflict(kind: Named, name: string, message: string): ApiError {
  const what = `Operation cannot be fulfilled on ${nameIn(kind, name)}: ${message}`
  return new ApiError('Conflict', what, detailsOf(kind, name))
}

export function forbidden(kind: Named, name: string, message: string): ApiError {
  return new ApiError('Forbidden', `${nameIn(kind, name)} is forbidden: ${message}`, detailsOf(kind, name))
}

/** All causes, in the format of Kubernetes: `HTTPRoute.gateway.networking.k8s.io "shop" is invalid: spec.rules: Invalid value: ...`. */
export function invalid(
  { group, kind }: { readonly group: string; readonly kind: string },
  name: string,
  causes: readonly Cause[],
): ApiError {
  const texts = causes.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`))
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  const kindName = group === '' ? kind : `${kind}.${group}`
  return new ApiError('Invalid', `${kindName} "${name}" is invalid: ${list}`, { name, group, kind, causes })
}

function detailsOf({ group, plural }: Named, name: string): ErrorDetails {
  return { name, ...(group === '' ? {} : { group }), kind: plural }
}
