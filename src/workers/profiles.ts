import { clock } from '#base/clock.ts'
import type { ProfileKind } from './record-profile.ts'

/** How much longer than its profile a worker may take: it may be busy. */
const ANSWER_MS = 10_000

export interface ProfileRequest {
  readonly profile: ProfileKind
  readonly durationMs: number
}

/** `busy`: another profile is being recorded. */
export type ProfileResult =
  | { readonly kind: 'profile'; readonly text: string }
  | { readonly kind: 'busy' }
  | { readonly kind: 'failed'; readonly cause: string }

interface Open {
  readonly worker: string
  readonly end: (result: ProfileResult) => void
}

/** Profiles of single workers, one at a time: a profile slows its worker down. */
export class Profiles {
  #open: Open | undefined

  /** @param send sends the request to the worker */
  record(worker: string, request: ProfileRequest, send: (request: ProfileRequest) => void): Promise<ProfileResult> {
    if (this.#open !== undefined) return Promise.resolve({ kind: 'busy' })
    return new Promise((resolve) => {
      const late = clock.after(request.durationMs + ANSWER_MS, () =>
        open.end({ kind: 'failed', cause: 'the worker did not answer in time' }),
      )
      const open: Open = {
        worker,
        end: (result) => {
          late.cancel()
          if (this.#open === open) this.#open = undefined
          resolve(result)
        },
      }
      this.#open = open
      send(request)
    })
  }

  /** A worker has answered. */
  recorded(worker: string, result: ProfileResult): void {
    if (this.#open?.worker === worker) this.#open.end(result)
  }

  /** A worker has ended. */
  forget(worker: string): void {
    this.recorded(worker, { kind: 'failed', cause: 'the worker has ended' })
  }
}
