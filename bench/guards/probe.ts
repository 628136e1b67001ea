import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { STREAMED, WHOLE } from './guarded-gateway.ts'

/**
 * Asks a route at a rate, in a thread that does nothing else but answer as the provider of the route. The first message from it is the port of that
 * provider. Each message to it is an order; the answer has the times in milliseconds.
 */
export interface ProbeOrder {
  readonly url: string
  readonly seconds: number
}

const PER_SECOND = 100
const BODY = STREAMED.body.replace('"stream":true', '"stream":false')

const provider = createServer((incoming, response) => {
  incoming.resume()
  incoming.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(WHOLE))
})
provider.listen(0, '127.0.0.1', () => parentPort!.postMessage((provider.address() as AddressInfo).port))

parentPort!.on('message', async ({ url, seconds }: ProbeOrder) => {
  const times: Promise<number>[] = []
  for (let index = 0; index < seconds * PER_SECOND; index++) {
    times.push(askOnce(url))
    await setTimeout(1000 / PER_SECOND)
  }
  parentPort!.postMessage(await Promise.all(times))
})

async function askOnce(url: string): Promise<number> {
  const start = performance.now()
  const response = await fetch(url, { ...STREAMED, body: BODY })
  await response.arrayBuffer()
  return performance.now() - start
}
