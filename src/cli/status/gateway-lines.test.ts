import { expect, test } from 'vitest'
import type { ConfigurationReport, StatusReport } from '#admin/status-report.ts'
import { gatewayLines, newestVersion, type PodState, whyBehind } from './gateway-lines.ts'

const [OLD, NEW] = ['a'.repeat(64), 'b'.repeat(64)]
const CONFIRMED = { inForce: NEW, delivered: NEW, confirmedAt: '2026-01-31T12:30:15.123Z' }
const CAUSE = { unconfirmed: 'connection refused' }

const pod = (name: string, configuration?: ConfigurationReport): PodState => ({
  pod: name,
  isEnding: false,
  report: { notReady: [], ...(configuration && { configuration }) } as unknown as StatusReport,
})

test.each<[string, readonly (ConfigurationReport | undefined)[], string | undefined]>([
  ['what the controller confirms', [CONFIRMED, { ...CONFIRMED, inForce: OLD, delivered: OLD, ...CAUSE }], NEW],
  ['that of most pods', [{ ...CONFIRMED, delivered: OLD }, CONFIRMED, CONFIRMED], NEW],
  ['unknown without the controller', [{ ...CONFIRMED, ...CAUSE }], undefined],
  ['unknown from older pods', [undefined], undefined],
])('the newest version is %s', (_, configurations, expected) => {
  expect(newestVersion(configurations.map((configuration, i) => pod(`pod-${i}`, configuration)))).toBe(expected)
})

const LAST = 'the controller last confirmed it at 2026-01-31T12:30:15.123Z: connection refused'

test.each<[ConfigurationReport | undefined, string | undefined, string | undefined]>([
  [CONFIRMED, NEW, undefined],
  [{ ...CONFIRMED, inForce: OLD }, NEW, 'the newest is bbbbbbbbbbbb'],
  [{ ...CONFIRMED, inForce: OLD, ...CAUSE }, NEW, `the newest is bbbbbbbbbbbb; ${LAST}`],
  [{ ...CONFIRMED, ...CAUSE }, undefined, LAST],
  [{ inForce: OLD, ...CAUSE }, undefined, 'the controller last confirmed it never: connection refused'],
  [{}, NEW, 'it has no configuration yet'],
  [undefined, NEW, undefined],
])('a pod with %j while the newest is %s: %s', (configuration, newest, expected) => {
  expect(whyBehind(pod('main-1', configuration), newest)).toBe(expected)
})

test('a line for the Gateway, and one for each pod', () => {
  const state = { gateway: 'infra/main', programmed: true, message: 'programmed', version: NEW }
  const pods = [
    pod('main-1', CONFIRMED),
    { ...pod('main-22', { ...CONFIRMED, inForce: OLD }), notReady: 'its probe fails', behind: 'the newest is b' },
  ]
  const lines = gatewayLines({ ...state, pods }).map((line) =>
    line
      .map(({ text }) => text)
      .filter(Boolean)
      .join(' '),
  )
  expect(lines).toEqual([
    'infra/main: programmed',
    ' main-1  ready configuration bbbbbbbbbbbb',
    ' main-22 not ready (its probe fails) configuration aaaaaaaaaaaa behind: the newest is b',
  ])
})
