import { accessOf, call } from './api-access.ts'
import { now } from './gateway-clock.ts'

/** A request to the API of a gateway. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: object
}

/** When the whole answer was there: `now()`. */
export interface Answered {
  readonly atMs: number
}

// A process with a client, which does not share a thread with the gateway that it measures.
const access = accessOf(process.argv[2]!)
process.on('message', async ({ method, path, body }: Asked) => {
  await call(access, method, path, body)
  process.send!({ atMs: now() } satisfies Answered)
})
