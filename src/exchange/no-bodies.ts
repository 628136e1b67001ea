import { BODY_NONE, type SendableBody } from '#net/stream.ts'
import type { Bodies } from './bodies.ts'
import { reject } from './outcome.ts'

const NO_BODY: SendableBody = { kind: BODY_NONE, length: -1, pipe: (sink) => sink.end() }

const NO_ACCESS = {
  outgoing: () => NO_BODY,
  replace: () => undefined,
  hold: () => {},
  keep: () => undefined,
}

/** For an exchange whose messages have no bodies. */
export const NO_BODIES: Bodies = {
  request: {
    ...NO_ACCESS,
    read: async () => undefined,
    decode: async () => undefined,
    content: async () => new Uint8Array(),
  },
  response: { ...NO_ACCESS, broken: () => reject('upstream-failed') },
}
