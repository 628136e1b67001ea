import type { CallRequest } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, refusalStatus, refusalText } from '#exchange/outcome.ts'
import {
  contextWith,
  type ExchangeInputs,
  exchangeWith,
  runContext,
  sourceOf,
  specFrom,
} from '#policies/shared/testing.ts'
import type { ExternalAuthFilter } from '#policies/traffic/ext-auth/external-auth-filter.ts'
import { extAuth } from '#policies/traffic/ext-auth/index.ts'
import { type ExtAuthSection, trafficExtAuth } from '#policies/traffic/ext-auth/schema.ts'
import { type FakeServer, fakeServer, type Reply } from './fake-authorization-server.ts'

/** Test support: `traffic.extAuth` with a server in memory. */

export const SERVER = { backendRef: { name: 'authz', port: 9000 } }
export const GRPC = { ...SERVER, grpc: {} }
export const HTTP = { ...SERVER, http: {} }
export const ALLOWED: Reply = { check: { status: { code: 0 } } }

export interface Sent {
  readonly outcome: Outcome
  readonly exchange: Exchange
  /** The step decided without a promise. */
  readonly sync: boolean
}

export interface Policy extends FakeServer {
  readonly context: ReturnType<typeof contextWith>
  send(request?: ExchangeInputs, prepare?: (exchange: Exchange) => void): Promise<Sent>
}

type Replies = Reply | ((request: CallRequest) => Reply | Promise<Reply>)

export function policyOf(written: object, reply: Replies = ALLOWED): Policy {
  return policyWith(specWith(written), reply)
}

/** The filter ExternalAuth of a rule; `backend` as the control plane resolves it. */
export function filterOf(written: Omit<ExternalAuthFilter, 'backend'>, reply: Replies = ALLOWED): Policy {
  return policyWith({ backend: 'Service/default/authz/9000', ...written }, reply)
}

function policyWith(spec: ExtAuthSection | ExternalAuthFilter, reply: Replies): Policy {
  const server = fakeServer(typeof reply === 'function' ? reply : () => reply)
  const context = contextWith()
  const run = extAuth.compile([sourceOf(spec)], context)
  return {
    ...server,
    context,
    async send(request = {}, prepare) {
      const exchange = exchangeWith(request)
      exchange.context = runContext({ call: server.call })
      prepare?.(exchange)
      const pending = run?.request?.(exchange)
      const sync = !(pending instanceof Promise)
      return { outcome: await pending, exchange, sync }
    },
  }
}

/** Status, code, headers and body of a refusal; `allowed` without one. */
export function shown({ outcome }: Sent): unknown {
  if (outcome === undefined) return 'allowed'
  if (outcome.kind !== 'refusal') return outcome.kind
  const { headers, contentType } = outcome
  return {
    status: refusalStatus(outcome),
    body: refusalText(outcome),
    ...(headers.length > 0 && { headers }),
    ...(contentType !== undefined && { contentType }),
  }
}

export const DENIED = { status: 403, body: 'external authorization failed' }

/** A `HeaderValueOption`. */
export const header = (key: string, value: string, more: object = {}) => ({ header: { key, value }, ...more })

/** Compiled, for tests of other members than the request step. */
export function compiled(written: object) {
  return extAuth.compile([sourceOf(specWith(written))], contextWith())!
}

/** With the defaults of the schema. */
export function specWith(written: object) {
  return specFrom(trafficExtAuth, written)
}
