import { clock } from '#base/clock.ts'
import { parseExactJson } from '#base/exact-json.ts'
import { type MessageId, parseMessage, type RequestMessage } from '../message/json-rpc.ts'
import type { TargetMessage } from '../message/target-reply.ts'
import type { McpDeps } from '../request/mcp-request.ts'
import { TargetStreamError } from '../target/target-stream-error.ts'
import { type CallReader, channelOf, type HeldAt, type Question, type Told } from './held-call.ts'

/** How often the reader reports to the worker of the call that it is still reading. */
const ALIVE_MS = 10_000

/** A call that is continued here. */
export interface TakenCall extends CallReader {
  /** Id of the request at the target. */
  readonly id: MessageId
  /** Of the request that began it. */
  readonly progressToken: MessageId | undefined
  /** The request of the target that the client was asked. */
  readonly asked: RequestMessage
}

type Asked = { [Ask in Question['ask']]: Omit<Question & { readonly ask: Ask }, 'to' | 'from'> }[Question['ask']]

/** Takes over a held call from the worker that has it. @returns undefined: it has ended, or another request has taken it */
export async function takeHeldCall(deps: McpDeps, { key, thread, round }: HeldAt): Promise<TakenCall | undefined> {
  const { channels, signal, claim } = deps
  const to = `mcp-held-reader ${crypto.randomUUID()}`
  let taken: (Told & { readonly tell: 'taken' }) | undefined
  let waiting: PromiseWithResolvers<Told> | undefined
  const closeChannel = channels.open(to, (text) => {
    const told = parseExactJson(text) as Told
    if (told.tell === 'taken') taken = told
    else waiting?.resolve(told)
  })
  const ask = (question: Asked) =>
    channels.send(channelOf(key), JSON.stringify({ ...question, to, from: channels.thread }), thread)
  await ask({ ask: 'take', round })
  const asked = taken === undefined ? undefined : parseMessage(taken.asked)
  if (taken === undefined || asked?.kind !== 'request') {
    closeChannel()
    return undefined
  }

  let isOver = false
  let heldLength = 0
  const fail = (why: string) => waiting?.reject(new TargetStreamError(why))
  const left = () => fail('the client has disconnected')
  signal.addEventListener('abort', left, { once: true })
  let timer: { cancel(): void }
  const stayAlive = async () => {
    if (isOver) return
    if (!(await ask({ ask: 'alive' }))) return fail(GONE)
    if (!isOver) timer = clock.after(ALIVE_MS, stayAlive)
  }
  timer = clock.after(ALIVE_MS, stayAlive)
  const close = () => {
    isOver = true
    timer.cancel()
    signal.removeEventListener('abort', left)
    closeChannel()
    claim.give(heldLength)
    heldLength = 0
  }
  return {
    id: taken.id,
    progressToken: taken.progressToken,
    asked,
    async next(): Promise<TargetMessage | undefined> {
      claim.give(heldLength)
      heldLength = 0
      if (signal.aborted) throw new TargetStreamError('the client has disconnected')
      waiting = Promise.withResolvers<Told>()
      const { promise } = waiting
      promise.catch(() => {})
      if (!(await ask({ ask: 'next' }))) throw new TargetStreamError(GONE)
      const told = await promise
      if (told.tell !== 'message') {
        if (told.tell === 'over' && told.failure !== undefined) throw new TargetStreamError(told.failure)
        return undefined
      }
      if (!claim.take(told.text.length)) throw new TargetStreamError('no memory is left for the response of the target')
      heldLength = told.text.length
      const message = told.text === '' ? undefined : parseMessage(told.text)
      if (message?.kind === 'unreadable') throw new TargetStreamError('the target sent an invalid message')
      return { message, eventId: undefined, retryMs: undefined, keep: () => {} }
    },
    async hold({ text }: RequestMessage): Promise<HeldAt | undefined> {
      const isHeld = await ask({ ask: 'hold', round: round + 1, asked: text })
      close()
      return isHeld ? { key, thread, round: round + 1 } : undefined
    },
    end: (isCancelled) => {
      if (isOver) return
      close()
      void ask({ ask: 'end', isCancelled })
    },
  }
}

const GONE = 'the worker that had the call has ended'
