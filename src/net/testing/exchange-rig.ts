import { Head } from '../http/head.ts'
import { ClientExchange } from '../http1/client-exchange.ts'
import { parseHeadText } from '../http1/parse-head-text.ts'
import type { ClientHandler } from '../stream.ts'
import type { WheelTimer } from '../timer-wheel.ts'
import { TextSink } from './recording-handler.ts'

/** An exchange of an HTTP/1 pool without the pool, and what happens to it. */
export class ExchangeRig {
  readonly events: string[] = []
  /** Of the response body, which it takes as soon as there is one. */
  readonly sink: TextSink = new TextSink()
  /** The running time limit until the response. */
  limit: { readonly timer: WheelTimer; readonly ms: number } | undefined
  readonly exchange: ClientExchange = new ClientExchange({
    arm: (timer, ms) => {
      this.limit = { timer, ms }
    },
    disarm: () => {
      this.limit = undefined
    },
    recycle: () => this.events.push('recycle'),
  })
  readonly handler: ClientHandler = {
    response: (stream) => {
      this.events.push(`response ${stream.head.status}`)
      stream.body.pipe(this.sink)
    },
    informed: (_, { status }) => this.events.push(`informed ${status}`),
    upgraded: ({ head }) => this.events.push(`upgraded ${head.upgrade}`),
    replayed: (_, cause) => this.events.push(`replayed ${cause}`),
    failed: (_, { code, detail, maybeProcessed }) =>
      this.events.push(`failed ${code}: ${detail}, ${maybeProcessed ? 'maybe processed' : 'unsent'}`),
  }

  begin(method = 'GET', expectsContinue = false): void {
    const head = Head.request(method, '/')
    head.expectsContinue = expectsContinue
    this.exchange.begin(head, this.handler, 'context')
  }

  /** The events since the last call. */
  take(): string[] {
    return this.events.splice(0)
  }

  /** A response head as if it had been read. */
  receiveHead(text: string): void {
    const head = parseHeadText(text)
    if (!(head instanceof Head)) throw new Error(`refused with ${head}`)
    this.exchange.head.copyFrom(head)
  }
}
