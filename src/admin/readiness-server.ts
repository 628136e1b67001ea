import { textAnswer } from './answer.ts'
import { type RunningServer, startSmallServer } from './small-server.ts'

export interface ReadinessServerOptions {
  readonly host: string
  readonly port: number
  /** The steps that must complete before the gateway accepts traffic; `draining` during shutdown; empty: ready. */
  readonly pending: () => readonly string[]
  readonly reportBug: (error: unknown) => void
}

/**
 * Starts the server for `/healthz/ready` and `/healthz/live`, for load balancers (decision A-115).
 * @throws PortInUse
 */
export function startReadinessServer({ pending, ...options }: ReadinessServerOptions): Promise<RunningServer> {
  return startSmallServer({
    ...options,
    purpose: 'readiness',
    endpoints: {
      '/healthz/ready': {
        method: 'GET',
        answer() {
          const what = pending()
          return what.length === 0
            ? textAnswer(200, 'ready')
            : textAnswer(503, `not ready, pending: ${what.join(', ')}`)
        },
      },
      '/healthz/live': { method: 'GET', answer: () => textAnswer(200, 'live') },
    },
  })
}
