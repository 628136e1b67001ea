import type { ServedAnswer } from '../../backend-protocol.ts'
import { NotificationStream } from './notification-stream.ts'

/** Calls `done` once, when the body was delivered or abandoned. */
export function afterBody(answer: ServedAnswer, done: () => unknown): ServedAnswer {
  const { body } = answer
  if (body === undefined || body instanceof Uint8Array) {
    done()
    return answer
  }
  if (body instanceof NotificationStream) {
    body.whenOver(done)
    return answer
  }
  const source = body[Symbol.asyncIterator]()
  let isOver = false
  const end = () => {
    if (!isOver) done()
    isOver = true
  }
  const iterator: AsyncIterator<Uint8Array> = {
    next: () =>
      source.next().then(
        (result) => {
          if (result.done === true) end()
          return result
        },
        (error: unknown) => {
          end()
          throw error
        },
      ),
    return: () => (source.return?.() ?? Promise.resolve({ done: true as const, value: undefined })).finally(end),
  }
  return { ...answer, body: { [Symbol.asyncIterator]: () => iterator } }
}
