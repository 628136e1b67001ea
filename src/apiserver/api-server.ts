import { clock } from '#base/clock.ts'
import { hostPort } from '#base/host-port.ts'
import { listen, listeningDescriptor } from '#base/listen.ts'
import { RequestAnswerer } from './serve/answer-request.ts'
import type { ApiContext } from './serve/api-context.ts'
import { bearerCheck } from './serve/bearer-token.ts'

/** `import` would read each name that the module exports, and so load the client of `fetch`, which nothing here needs. */
const { createServer } = process.getBuiltinModule('node:https')

/** Bytes of the head of a request, as on the platform: selectors are in its path. */
const MAX_HEAD_BYTES = 1024 * 1024
/** For requests in flight when the server stops. */
const GRACE_MS = 1000

export interface ApiServerOptions extends ApiContext {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly inherited?: number | undefined
  /** PEM texts. */
  readonly certificate: string
  readonly key: string
  /** What clients must have. */
  readonly token: string
}

export interface RunningApiServer {
  readonly port: number
  /** `https://127.0.0.1:15010` */
  readonly url: string
  /** Of its socket, while it is open. */
  readonly descriptor: number
  /** Ends all watches; resolves when the requests in flight are complete, or after a second. */
  close(): Promise<void>
}

/**
 * Starts the Kubernetes-style API on the main thread, over HTTPS (decision A-12).
 * @throws PortInUse
 */
export async function startApiServer(options: ApiServerOptions): Promise<RunningApiServer> {
  const { host, inherited, certificate: cert, key, token, watches } = options
  const answerer = new RequestAnswerer(options, bearerCheck(token))
  const server = createServer(
    { cert, key, minVersion: 'TLSv1.2', maxHeaderSize: MAX_HEAD_BYTES },
    (request, response) => {
      answerer.answer(request, response).catch(options.reportBug)
    },
  )
  const address = { host, port: options.port, inherited, purpose: 'API', variable: 'GATEWRIGHT_API_ADDR' }
  const port = await listen(server, address)
  const close = () =>
    new Promise<void>((resolve) => {
      const late = clock.after(GRACE_MS, () => server.closeAllConnections())
      server.close(() => {
        late.cancel()
        resolve()
      })
      watches.close()
      server.closeIdleConnections()
    })
  return { port, url: `https://${hostPort(host, port)}`, descriptor: listeningDescriptor(server), close }
}
