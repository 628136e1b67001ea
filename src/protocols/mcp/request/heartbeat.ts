import { COMMENT, SILENCE_MS } from '#net/body/keep-alive-sink.ts'
import { WheelTimer, workerWheel } from '#net/timer-wheel.ts'

/**
 * The pieces of a stream, with a comment of the event stream after each 15 s of silence (WHATWG HTML, 9.2.7). Each piece must be requested
 * after the one before it.
 */
export function withHeartbeat(
  pieces: AsyncIterator<Uint8Array>,
  wheel: Pick<typeof workerWheel, 'arm' | 'remove'> = workerWheel,
): AsyncIterator<Uint8Array> {
  let pending: Promise<IteratorResult<Uint8Array>> | undefined
  let beat: ((result: IteratorResult<Uint8Array>) => void) | undefined
  const timer = new WheelTimer(() => {
    const resolve = beat
    beat = undefined
    resolve?.({ done: false, value: COMMENT })
  })
  const end = () => wheel.remove(timer)
  return {
    next: () => {
      pending ??= pieces.next()
      const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<Uint8Array>>()
      beat = resolve
      wheel.arm(timer, SILENCE_MS)
      const awaited = pending
      awaited.then(
        (result) => {
          // After a comment, the piece is for the next request.
          if (beat !== resolve) return
          beat = undefined
          pending = undefined
          if (result.done === true) end()
          resolve(result)
        },
        (error: unknown) => {
          end()
          reject(error)
        },
      )
      return promise
    },
    return: async () => {
      end()
      return (await pieces.return?.()) ?? { done: true, value: undefined }
    },
  }
}
