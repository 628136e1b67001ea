import { expect, test } from 'vitest'
import { reportTraffic } from './traffic-report.ts'

const series = (route: string, backend: string, status: string, cells: readonly number[], reason = 'Upstream') => ({
  labels: { route, backend, status, reason },
  cells,
})

test('requests are summed by route and by backend', () => {
  const report = reportTraffic(
    [
      series('default/shop', 'default/web', '200', [3, 1, 0, 0.5]),
      series('default/shop', 'default/old', '503', [0, 0, 2, 4]),
      series('default/shop', 'unknown', '403', [1, 0, 0, 0.01], 'Authorization'),
      series('unknown', 'unknown', '404', [5, 0, 0, 0.1], 'NotFound'),
      series('default/db', 'default/db', 'unknown', [0, 1, 0, 9]),
      series('default/db', 'default/db', '0', [0, 1, 0, 1], 'UpstreamFailure'),
    ],
    [0.1, 1],
    { timeMs: 5000, startTimeMs: 0, uptimeMs: 4500, inFlight: 2 },
  )
  expect(report).toEqual({
    time: '1970-01-01T00:00:05.000Z',
    startTime: '1970-01-01T00:00:00.000Z',
    uptimeSeconds: 4.5,
    inFlight: 2,
    bounds: [0.1, 1],
    routes: [
      { name: 'default/shop', requests: 7, errors: 2, clientErrors: 1, seconds: 4.51, buckets: [4, 1, 2] },
      { name: '', requests: 5, errors: 0, clientErrors: 5, seconds: 0.1, buckets: [5, 0, 0] },
      { name: 'default/db', requests: 2, errors: 1, clientErrors: 0, seconds: 10, buckets: [0, 2, 0] },
    ],
    backends: [
      { name: '', requests: 6, errors: 0, clientErrors: 6, seconds: 0.11, buckets: [6, 0, 0] },
      { name: 'default/web', requests: 4, errors: 0, clientErrors: 0, seconds: 0.5, buckets: [3, 1, 0] },
      { name: 'default/old', requests: 2, errors: 2, clientErrors: 0, seconds: 4, buckets: [0, 0, 2] },
      { name: 'default/db', requests: 2, errors: 1, clientErrors: 0, seconds: 10, buckets: [0, 2, 0] },
    ],
  })
})
