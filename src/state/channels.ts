/**
 * Named channels between the threads of an instance. A request that waits, such as a stream of notifications, opens one; a request that another
 * thread serves can then send to it.
 */
export interface Channels {
  /** The name of this thread, as `send` takes it. */
  readonly thread: string
  /** @param receive a promise delays the result of `send`. @returns closes the channel */
  open(name: string, receive: Receive): () => void
  /**
   * Sends a text to every open channel of that name. Texts of one sender arrive in their order.
   * @param thread undefined: in all threads
   * @returns whether a channel has received it, when all threads have looked: they then also know what was set before in the shared table
   */
  send(name: string, text: string, thread?: string): Promise<boolean>
}

export type Receive = (text: string) => void | Promise<void>

/** A text for channels of other threads. */
export interface ChannelText {
  readonly name: string
  readonly text: string
  /** Undefined: all other threads. */
  readonly thread: string | undefined
}

/** The channels of one thread. */
export class LocalChannels implements Channels {
  readonly thread: string
  /** Replaced as a whole: a channel nearly always has one receiver, and a worker has thousands of channels. */
  readonly #receivers = new Map<string, readonly Receive[]>()
  readonly #sendToOthers: (text: ChannelText) => Promise<boolean>

  /** @param sendToOthers carries a text to other threads, which hand it to `deliver` */
  constructor(thread: string, sendToOthers: (text: ChannelText) => Promise<boolean> = () => Promise.resolve(false)) {
    this.thread = thread
    this.#sendToOthers = sendToOthers
  }

  open(name: string, receive: Receive): () => void {
    const others = this.#receivers.get(name)
    this.#receivers.set(name, others === undefined ? [receive] : [...others, receive])
    return () => this.#close(name, receive)
  }

  #close(name: string, receive: Receive): void {
    const others = (this.#receivers.get(name) ?? []).filter((one) => one !== receive)
    if (others.length > 0) this.#receivers.set(name, others)
    else this.#receivers.delete(name)
  }

  /** The names of the open channels, for tests. */
  get openChannels(): string[] {
    return [...this.#receivers.keys()]
  }

  async send(name: string, text: string, thread?: string): Promise<boolean> {
    if (thread === this.thread) return this.deliver(name, text)
    const elsewhere = this.#sendToOthers({ name, text, thread })
    if (thread !== undefined) return elsewhere
    const [here, there] = await Promise.all([this.deliver(name, text), elsewhere])
    return here || there
  }

  /** Hands a text to the channels of this thread. @returns whether there is one */
  async deliver(name: string, text: string): Promise<boolean> {
    const receivers = this.#receivers.get(name) ?? []
    await Promise.all(receivers.map((receive) => receive(text)))
    return receivers.length > 0
  }
}
