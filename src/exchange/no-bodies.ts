import { BODY_NONE, type SendableBody } from '#net/stream.ts'
import type { BodyReader } from './exchange.ts'
import { reject } from './outcome.ts'

const NO_BODY: SendableBody = { kind: BODY_NONE, length: -1, pipe: (sink) => sink.end() }

/** For an exchange whose messages have no bodies. */
export const NO_BODIES: BodyReader = {
  readRequestBody: async () => undefined,
  readResponseBody: async () => undefined,
  decodeRequestBody: async () => undefined,
  outgoing: () => NO_BODY,
  replace: () => undefined,
  hold: () => {},
  brokenResponse: () => reject('upstream-failed'),
}
