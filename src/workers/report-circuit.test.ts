import { expect, test } from 'vitest'
import { circuitReporter } from './report-circuit.ts'

test('a circuit that opens or closes is logged with its guard and service', () => {
  const logged: unknown[] = []
  const report = circuitReporter((...entry) => logged.push(entry))
  const circuit = {
    phase: 'request',
    kind: 'webhook',
    backend: 'Service/default/judge/80',
    guard: 'ProxyPolicy/default/guards spec.backend.ai.promptGuard.request[0]',
  }
  report(circuit, 'timeout')
  report(circuit, undefined)
  const { guard } = circuit
  const fields = { guard, kind: 'webhook', backend: 'default/judge' }
  expect(logged).toEqual([
    [
      'proxy',
      'warn',
      'the service of a prompt guard failed 5 times in a row, and is asked once a second',
      { ...fields, cause: 'timeout' },
    ],
    ['proxy', 'info', 'the service of a prompt guard answers again', fields],
  ])
})
