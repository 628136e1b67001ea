import { textAnswer } from './answer.ts'
import { indexPage } from './index-page.ts'
import { type Endpoint, type RunningServer, startSmallServer } from './small-server.ts'

export interface ReadinessServerOptions {
  readonly host: string
  readonly port: number
  readonly inherited?: number | undefined
  /** Why the gateway is not ready; empty: it is. */
  readonly whyNotReady: () => readonly string[]
  /** What an operator must know of a gateway that is ready. */
  readonly note?: (() => string | undefined) | undefined
  readonly reportBug: (error: unknown) => void
}

const PURPOSE = 'This port of the gateway tells load balancers whether it is ready. It carries no traffic.'
const PATHS = [
  {
    path: '/healthz/ready',
    method: 'GET',
    about: '200 if the gateway is ready for traffic; otherwise 503 with the reasons.',
  },
  { path: '/healthz/live', method: 'GET', about: '200 as long as the process answers.' },
  { path: '/readyz', method: 'GET', about: 'The same as /healthz/ready.' },
  { path: '/livez', method: 'GET', about: 'The same as /healthz/live.' },
]

/**
 * Starts the server for `/healthz/ready` and `/healthz/live`, for load balancers (decision A-115).
 * @throws PortInUse
 */
export function startReadinessServer({
  whyNotReady,
  note,
  ...options
}: ReadinessServerOptions): Promise<RunningServer> {
  const ready: Endpoint = {
    method: 'GET',
    answer() {
      const reasons = whyNotReady()
      if (reasons.length > 0) return textAnswer(503, `not ready: ${reasons.join('; ')}`)
      const text = note?.()
      return textAnswer(200, text === undefined ? 'ready' : `ready; ${text}`)
    },
  }
  const live: Endpoint = { method: 'GET', answer: () => textAnswer(200, 'live') }
  return startSmallServer({
    ...options,
    purpose: 'readiness',
    variable: 'GATEWRIGHT_READINESS_ADDR',
    endpoints: {
      '/': { method: 'GET', answer: () => indexPage('Gatewright readiness', PURPOSE, PATHS) },
      '/healthz/ready': ready,
      '/readyz': ready,
      '/healthz/live': live,
      '/livez': live,
    },
  })
}
