import type { ChannelText } from '#state/channels.ts'
import type { SentText } from './messages.ts'

/** The side of one worker: sends texts to the main thread, and awaits its answers. */
export class ChannelsToMain {
  readonly #send: (text: SentText) => void
  readonly #awaited = new Map<number, (taken: boolean) => void>()
  #next = 1

  constructor(send: (text: SentText) => void) {
    this.#send = send
  }

  readonly carry = (text: ChannelText): Promise<boolean> => {
    const number = this.#next++
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#awaited.set(number, resolve)
    this.#send({ ...text, number })
    return promise
  }

  answered(number: number, taken: boolean): void {
    this.#awaited.get(number)?.(taken)
    this.#awaited.delete(number)
  }
}
