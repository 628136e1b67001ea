import { clock } from '#base/clock.ts'
import { openJson, sealJson } from '#base/sealer.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import type { RequestMessage } from '../message/json-rpc.ts'
import { nameOfRequest } from '../message/request-headers.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { digestOfCaller } from '../session/caller-of.ts'
import { packTarget, type SealedTarget, unpackTarget } from '../session/session-state.ts'
import type { TargetSession } from '../session/target-session.ts'
import { HELD_MS, type HeldAt } from './held-call.ts'

/** A call that waits for input of the client, as described by its `requestState`. */
export interface InputState {
  readonly session: TargetSession
  readonly at: HeldAt
}

interface SealedState {
  readonly k: 'input'
  readonly b: string
  /** Digest of the caller. */
  readonly i: string
  readonly t: SealedTarget
  /** Method and name of the item. */
  readonly m: readonly [method: string, name: string | null]
  readonly h: HeldAt
  /** When it expires, wall clock. */
  readonly x: number
}

type Item = Pick<RequestMessage, 'method' | 'params'>

export function sealInputState({ plan, exchange, deps }: McpRequest, item: Item, { session, at }: InputState): string {
  const sealed: SealedState = {
    k: 'input',
    b: plan.backend,
    i: digestOfCaller(exchange.identity),
    t: packTarget(session),
    m: [item.method, nameOfRequest(item) ?? null],
    h: at,
    x: clock.now() + HELD_MS,
  }
  return sealJson(deps.sealer, sealed)
}

/**
 * @param item the method, and the parameters as the target names them
 * @returns undefined: not a state of the gateway. `invalid`: it has expired, or belongs to another caller, backend, target or item
 */
export function openInputState(
  { plan, exchange, deps }: McpRequest,
  target: Pick<McpTargetPlan, 'name'>,
  item: Item,
): InputState | 'invalid' | undefined {
  const text = item.params?.requestState
  if (typeof text !== 'string') return undefined
  const sealed = openJson<SealedState>(deps.sealer, 'input', text)
  if (sealed === undefined) return undefined
  const session = unpackTarget(sealed.t)
  const belongs = sealed.b === plan.backend && sealed.i === digestOfCaller(exchange.identity)
  const fits = sealed.m[0] === item.method && sealed.m[1] === (nameOfRequest(item) ?? null)
  const isValid = belongs && fits && session.target === target.name && sealed.x > clock.now()
  return isValid ? { session, at: sealed.h } : 'invalid'
}
