import { type Dial, type DialContext, dialContext } from './dial.ts'
import { dialTransport } from './dial-transport.ts'
import { HoldBuffer } from './hold-buffer.ts'
import { BodyReader, type ReaderOwner } from './http1/body-reader.ts'
import { BodyWriter, type WriterOwner } from './http1/body-writer.ts'
import { Head } from './http1/head.ts'
import { type Abort, BODY_CLOSE, type ClientStream, type ConnectHandler, type Destination } from './stream.ts'
import type { TimerWheel } from './timer-wheel.ts'
import type { Transport, TransportOwner } from './transport.ts'

/** Lives as long as its destination, which the plan keeps while nothing about it changes. */
const contexts = new WeakMap<Destination, DialContext>()

/** Throws on unusable key material. */
function contextOf(destination: Destination): DialContext {
  let context = contexts.get(destination)
  if (context === undefined) {
    context = dialContext(destination)
    contexts.set(destination, context)
  }
  return context
}

/**
 * An upstream connection that carries nothing but bytes: they are `body` in one direction and `request` in the other, and each
 * direction ends by itself.
 */
export class RawConnection implements ClientStream, TransportOwner, ReaderOwner, WriterOwner {
  readonly head: Head = new Head()
  readonly trailers: Head | undefined = undefined
  readonly body: BodyReader = new BodyReader(this)
  readonly request: BodyWriter = new BodyWriter(this, { keepsWhole: false })
  context: unknown
  readonly #handler: ConnectHandler
  readonly #held = new HoldBuffer()
  #dial: Dial | undefined
  #transport: Transport | undefined
  #running = false
  /** The server has ended its direction; held bytes may still have to go. */
  #serverEnded = false
  #over = false

  constructor(handler: ConnectHandler, context: unknown) {
    this.#handler = handler
    this.context = context
    this.body.start(BODY_CLOSE, -1)
  }

  /** Begins; the first call. */
  dial(destination: Destination, wheel: TimerWheel): void {
    const done = (transport: Transport | null, why: Abort | null) => {
      if (transport === null) this.#fail(why ?? 'connect-failed')
      else this.#connected(transport)
    }
    try {
      this.#dial = dialTransport(destination, contextOf(destination), { wheel, owner: this, halfOpen: true, done })
    } catch {
      // Key material that cannot be used fails as the handshake would (decision A-108).
      process.nextTick(() => this.#fail('connect-failed'))
    }
  }

  cancel(): void {
    if (this.#over) return
    this.#leave()
    this.body.abort('cancelled')
  }

  release(): void {}

  // What the transport calls.

  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#over) return
    if (this.#held.length === 0) return this.#run(buffer, start, end)
    this.#held.append(buffer, start, end)
    if (!this.#running) this.#run(this.#held.bytes, 0, this.#held.length)
  }

  ended(): void {
    this.#serverEnded = true
    this.#endBody()
  }

  drained(): void {
    this.request.drained()
  }

  closed(): void {
    if (this.#over) return
    const cut = this.request.open
    this.request.close()
    if (!this.#serverEnded) {
      this.#over = true
      this.body.abort('reset')
    } else if (cut) this.#handler.broken(this, 'reset')
  }

  // What the reader and the writer call.

  bodyWanted(): void {
    if (this.#running || this.#over) return
    if (this.#held.length > 0) this.#run(this.#held.bytes, 0, this.#held.length)
    else this.#transport?.resume()
  }

  bodyHeld(): void {
    this.#transport?.pause()
  }

  messageWritten(): void {
    this.#transport?.end()
  }

  messageCut(why: Abort): void {
    if (this.#over) return
    this.#leave()
    this.body.abort(why)
  }

  #connected(transport: Transport): void {
    this.#dial = undefined
    this.#transport = transport
    transport.pause()
    this.request.start(transport, '', BODY_CLOSE, -1)
    this.#handler.connected(this)
  }

  #fail(why: Abort): void {
    if (this.#over) return
    this.#over = true
    this.#handler.failed(this, why)
  }

  #run(buffer: Buffer, start: number, end: number): void {
    this.#running = true
    const after = this.body.flowing ? this.body.feed(buffer, start, end) : start
    this.#running = false
    if (this.#over) return
    this.#held.replace(buffer, after, end)
    if (after < end || !this.body.flowing) this.#transport?.pause()
    else this.#transport?.resume()
    if (this.#serverEnded) this.#endBody()
  }

  #endBody(): void {
    if (this.#over || this.body.done || this.#held.length > 0) return
    this.body.close()
    this.body.end()
  }

  /** Gives up, such that the server cannot take it for an orderly end. */
  #leave(): void {
    this.#over = true
    this.#held.clear()
    this.request.close()
    this.#dial?.cancel()
    this.#transport?.reset()
  }
}
