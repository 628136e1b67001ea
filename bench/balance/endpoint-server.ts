import { createServer } from 'node:http'
import { PORTS } from '../settings.ts'
import { addressOf, COUNTS_ADDRESS, ENDPOINTS, FAILING, SLOW, SLOW_MS, USUAL_MS } from './endpoints.ts'

/** Serves all endpoints: one is slow, one fails every request at once. */
const counts: number[] = Array(ENDPOINTS).fill(0)

for (let endpoint = 1; endpoint <= ENDPOINTS; endpoint++) {
  createServer({ noDelay: true, keepAliveTimeout: 600_000 }, (request, response) => {
    counts[endpoint - 1]!++
    request.resume()
    if (endpoint === FAILING) response.writeHead(503, { 'content-length': 0 }).end()
    else setTimeout(() => response.end('thirty-two bytes, one line feed\n'), endpoint === SLOW ? SLOW_MS : USUAL_MS)
  }).listen(PORTS.endpoints, addressOf(endpoint))
}

createServer((_, response) => response.end(JSON.stringify(counts))).listen(PORTS.endpoints, COUNTS_ADDRESS)
