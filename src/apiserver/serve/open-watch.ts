import type { ServerResponse } from 'node:http'
import { clock } from '#base/clock.ts'
import { ApiError } from '../http/api-error.ts'
import type { ResourceRequest } from '../verbs/resource-request.ts'
import type { Watches } from '../verbs/watch.ts'

/** For a client to take the rest of a watch that has ended. One that takes nothing would keep it in memory as long as it is connected. */
const REST_MS = 30_000

/**
 * Begins an answer that lasts as long as the watch.
 * @throws ApiError before the head is sent
 */
export function openWatch(watches: Watches, request: ResourceRequest, response: ServerResponse): void {
  if (request.form.encoding !== 'json')
    throw new ApiError('NotAcceptable', 'watches are only available as application/json')
  const begin = (): void => {
    if (response.headersSent) return
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' })
    response.flushHeaders()
  }
  const end = watches.open(request, {
    write(piece) {
      begin()
      response.write(piece)
    },
    end() {
      begin()
      response.end()
      const late = clock.after(REST_MS, () => response.destroy())
      response.once('close', () => late.cancel())
    },
    get waitingBytes() {
      return response.writableLength
    },
  })
  response.once('close', end)
  begin()
}
