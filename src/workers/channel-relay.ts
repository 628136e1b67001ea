import type { SentText, ToWorker } from './messages.ts'

interface Sent {
  readonly sender: string
  readonly number: number
  /** Workers that have not answered. */
  readonly awaited: Set<string>
  taken: boolean
}

/** Carries texts of channels from worker to worker, through the main thread. */
export class ChannelRelay {
  readonly #post: (worker: string, message: ToWorker) => void
  readonly #sent = new Map<number, Sent>()
  #next = 1

  constructor(post: (worker: string, message: ToWorker) => void) {
    this.#post = post
  }

  /** @param workers the names of all workers */
  relay(sender: string, { number, name, text, thread }: SentText, workers: readonly string[]): void {
    const receivers = workers.filter((worker) => worker !== sender && (thread === undefined || worker === thread))
    const id = this.#next++
    this.#sent.set(id, { sender, number, awaited: new Set(receivers), taken: false })
    for (const worker of receivers) this.#post(worker, { kind: 'channel-text', id, name, text })
    this.#settleIfAnswered(id)
  }

  /** @param taken whether the worker has such a channel */
  answered(worker: string, id: number, taken: boolean): void {
    const sent = this.#sent.get(id)
    if (sent === undefined) return
    sent.awaited.delete(worker)
    sent.taken ||= taken
    this.#settleIfAnswered(id)
  }

  /** A worker has ended: it answers no more. */
  forget(worker: string): void {
    for (const id of this.#sent.keys()) this.answered(worker, id, false)
  }

  #settleIfAnswered(id: number): void {
    const sent = this.#sent.get(id)
    if (sent === undefined || sent.awaited.size > 0) return
    this.#sent.delete(id)
    this.#post(sent.sender, { kind: 'channel-answer', number: sent.number, taken: sent.taken })
  }
}
