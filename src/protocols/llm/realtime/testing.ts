import { uncountedGuardLoad } from '#exchange/guard-load.ts'
import { NO_LLM } from '#exchange/llm-facts.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { MessageReader } from '#net/websocket/message-reader.ts'
import { writeTextFrame } from '#net/websocket/write-frame.ts'
import { inOneTurn } from '#test/support/in-one-turn.ts'
import { prepare, type Setup } from '#test/support/prepare-llm.ts'
import type { Guard } from '../guards/guard.ts'
import type { PromptGuardRequestSpec } from '../settings/guard-schema.ts'
import { Collector } from '../testing.ts'
import { GuardedSession } from './guarded-session.ts'
import type { PreparedSession } from './prepare-session.ts'
import { SessionFilter } from './session-filter.ts'

export function asks(request: readonly PromptGuardRequestSpec[], more: Partial<NonNullable<Setup['ai']>> = {}): Setup {
  const ai = { routes: { '*': 'Realtime' as const }, promptGuard: { request: [...request] }, ...more }
  return { method: 'GET', upgrade: 'websocket', target: '/realtime?model=m', headers: { 'x-team': 'red' }, ai }
}

export function opened(setup: Setup) {
  const { prepared, exchange } = prepare(undefined, setup)
  if (prepared.kind !== 'open') throw new Error(`no session: ${JSON.stringify(prepared)}`)
  const session: PreparedSession = prepared
  return { session, exchange }
}

/** A session; `guards` replace the compiled ones. */
export function open(request: readonly PromptGuardRequestSpec[], guards?: readonly Guard[]) {
  const { session, exchange } = opened(asks(request))
  const claim = new BodyClaim(new BodyMemory(100_000))
  const limits = { claim, maxBytes: session.maxBytes }
  const { head, guards: compiled } = session.guarded!
  exchange.context = { ...exchange.context, guardLoad: uncountedGuardLoad() }
  const reading = { facts: { ...NO_LLM }, charge: () => {}, estimates: false }
  const inner = new SessionFilter({ ...limits, ...reading })
  const options = { ...limits, exchange, head, guards: guards ?? compiled }
  const filter: GuardedSession = new GuardedSession(inner, options)
  const [toClient, toProvider] = [new Collector(), new Collector()]
  const provider = filter.into(toClient)
  const client = filter.fromClient(toProvider)
  return {
    exchange,
    filter,
    toClient,
    toProvider,
    /** The client sends a text, or frames. */
    says: (message: object | string | Buffer) => {
      const text = message instanceof Buffer || typeof message === 'string' ? message : JSON.stringify(message)
      const frame = text instanceof Buffer ? text : writeTextFrame('client', Buffer.from(text))
      inOneTurn(() => client.bytes(frame, 0, frame.length))
    },
    hears: (bytes: Buffer) => provider.bytes(bytes, 0, bytes.length),
    get up() {
      return texts('client', toProvider)
    },
    get down() {
      return texts('server', toClient)
    },
  }
}

function texts(sender: 'client' | 'server', { text }: Collector): string[] {
  const got: string[] = []
  const reader = new MessageReader(
    { sender, claim: new BodyClaim(new BodyMemory(1_000_000)), maxBytes: 1_000_000 },
    {
      text: (message) => got.push(Buffer.from(message).toString()),
      missed: (why) => got.push(why),
      closed: (code) => got.push(`closed: ${code}`),
    },
  )
  const bytes = Buffer.from(text, 'latin1')
  const problem = reader.read(bytes, 0, bytes.length)
  return problem === undefined ? got : [...got, problem]
}
