import { expect, test } from 'vitest'
import type { WheelTimer } from '#net/timer-wheel.ts'
import { withHeartbeat } from './heartbeat.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const textOf = ({ value, done }: IteratorResult<Uint8Array>) =>
  done === true ? undefined : new TextDecoder().decode(value)

/** Pieces that arrive when the test says so, and a timer that it fires. */
function start() {
  const arrivals: PromiseWithResolvers<IteratorResult<Uint8Array>>[] = []
  let timer: WheelTimer | undefined
  const armed: number[] = []
  const pieces = withHeartbeat(
    {
      next: () => {
        arrivals.push(Promise.withResolvers())
        return arrivals.at(-1)!.promise
      },
      return: async () => ({ done: true, value: undefined }),
    },
    {
      arm: (one, ms) => {
        timer = one
        armed.push(ms)
      },
      remove: () => {
        timer = undefined
      },
    },
  )
  return { pieces, arrivals, armed, fire: () => timer?.fire(), isArmed: () => timer !== undefined }
}

test('a comment follows 15 s of silence, as often as needed, and no piece is lost', async () => {
  const { pieces, arrivals, armed, fire } = start()
  const first = pieces.next()
  fire()
  fire()
  expect(textOf(await first)).toBe(': \n\n')
  const second = pieces.next()
  fire()
  expect(textOf(await second)).toBe(': \n\n')
  // It arrives before the next one is requested.
  arrivals[0]!.resolve({ done: false, value: bytes('data: 1\n\n') })
  await new Promise((resolve) => setImmediate(resolve))
  expect(textOf(await pieces.next())).toBe('data: 1\n\n')
  expect(arrivals).toHaveLength(1)
  expect(armed).toEqual([15_000, 15_000, 15_000])
})

test('the end and a failure pass, and stop the timer', async () => {
  const ended = start()
  const end = ended.pieces.next()
  ended.arrivals[0]!.resolve({ done: true, value: undefined })
  expect([textOf(await end), ended.isArmed()]).toEqual([undefined, false])

  const broken = start()
  const failing = broken.pieces.next()
  broken.arrivals[0]!.reject(new Error('broken'))
  await expect(failing).rejects.toThrow('broken')
  expect(broken.isArmed()).toBe(false)

  const left = start()
  void left.pieces.next()
  await left.pieces.return!()
  expect(left.isArmed()).toBe(false)
})
