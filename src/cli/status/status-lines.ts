import type { StatusReport } from '#admin/status-report.ts'
import { count } from '#base/count.ts'
import { hostPort } from '#base/host-port.ts'
import { describeOrigin } from '#base/origin.ts'
import type { StyledText } from '../output.ts'
import { shortVersion, unconfirmedText } from './gateway-lines.ts'

type Line = readonly StyledText[]

/** Lines of a list that are shown; `-o json` has all. */
const MAX_LINES = 20

/** The state of a gateway: whether it is ready, and what is wrong. What is in order is only counted. */
export function statusLines(report: StatusReport): readonly Line[] {
  const { version, planVersion, objects, notReady } = report
  return [
    notReady.length === 0
      ? [{ text: 'ready', style: 'green' }]
      : [{ text: 'not ready:', style: 'red' }, { text: notReady.join('; ') }],
    [{ text: `version ${version}, plan ${planVersion} in force in ${runnersText(report)}` }],
    ...configurationLines(report),
    ...meshLines(report),
    [{ text: [count(objects.length, 'object'), ...(report.proxies ? [] : [endpointText(report)])].join(', ') }],
    ...section('listeners', listenerLines(report)),
    ...section('proxies', proxyLines(report)),
    ...section('problems', problemLines(report)),
    ...section('outputs that cannot be written', outputLines(report)),
    ...section('endpoints with failures', endpointLines(report)),
    ...section('services of prompt guards that fail', circuitLines(report)),
    ...section('keys and credentials that cannot be fetched', fetchLines(report)),
  ]
}

function configurationLines({ configuration }: StatusReport): Line[] {
  if (configuration?.inForce === undefined) return []
  const text = `configuration ${shortVersion(configuration.inForce)} of the controller`
  return [[{ text }, { text: unconfirmedText(configuration) ?? '', style: 'yellow' }]]
}

function meshLines({ mesh }: StatusReport): Line[] {
  if (mesh === undefined) return []
  const { id, expiresAt, expiredAt, failure, failingSince } = mesh
  const certificate = expiresAt === undefined ? '' : `, certificate until ${expiresAt}`
  const without = expiredAt === undefined ? 'no certificate' : `the certificate expired at ${expiredAt}`
  return [
    [
      { text: `${id} in the mesh${certificate}` },
      ...(expiresAt === undefined ? [{ text: without, style: 'red' as const }] : []),
    ],
    ...(failure === undefined ? [] : [[{ text: `  since ${failingSince}: ${failure}`, style: 'yellow' as const }]]),
  ]
}

function runnersText({ planVersion, workers, proxies }: StatusReport): string {
  if (proxies !== undefined)
    return `${proxies.filter(({ isCurrent }) => isCurrent).length} of ${count(proxies.length, 'proxy', 'proxies')}`
  const current = workers.filter((worker) => worker.planVersion === planVersion).length
  return `${current} of ${count(workers.length, 'worker')} (${workers.map(({ name }) => name).join(', ')})`
}

function proxyLines({ version: own, proxies = [] }: StatusReport): Line[] {
  return proxies.flatMap(({ gateway, proxy, address, version = own, isCurrent, refusals }) => [
    [
      { text: `${proxy} of ${gateway} at ${address}${version === own ? '' : `, version ${version}`}` },
      ...(isCurrent ? [] : [{ text: 'has another plan', style: 'yellow' as const }]),
    ],
    ...refusals.map(({ item, message }): Line => [{ text: `  refuses ${item}: ${message}`, style: 'red' }]),
  ])
}

function endpointText({ endpoints }: StatusReport): string {
  const evicted = endpoints.filter(({ evictedUntil }) => evictedUntil !== undefined).length
  return `${count(endpoints.length, 'endpoint')}${evicted === 0 ? '' : `, ${evicted} of them evicted`}`
}

function listenerLines({ listeners }: StatusReport): Line[] {
  return listeners.map(({ listener, address, port, message }) => [
    { text: `${listener} at ${hostPort(address, port)}` },
    ...(message === undefined ? [] : [{ text: message, style: 'red' as const }]),
  ])
}

function problemLines({ problems, staleFiles, objects }: StatusReport): Line[] {
  return [
    ...problems.map((text): Line => [{ text, style: 'yellow' }]),
    ...staleFiles.map(
      ({ file, since }): Line => [
        { text: `${file} has errors; its last good objects are in force since ${since}`, style: 'yellow' },
      ],
    ),
    ...objects.flatMap(({ origin, findings }) =>
      findings
        .filter(({ severity }) => severity === 'error')
        .map(({ path, message, code, at }): Line => {
          const place = path === '' ? '' : ` ${path}`
          const { kind, namespace, name } = origin
          const object = describeOrigin(at === undefined ? origin : { kind, namespace, name })
          // An expression and a caret under it follow in further lines.
          const first = message.split('\n', 1)[0]!
          return [
            { text: `${at === undefined ? '' : `${at}: `}${object}${place}: ${first} [${code}]`, style: 'yellow' },
          ]
        }),
    ),
  ]
}

function outputLines({ failingOutputs }: StatusReport): Line[] {
  return failingOutputs.map(({ output, cause, since, lost }) => [
    { text: `${output}: ${cause}`, style: 'yellow' },
    { text: `since ${since}, ${lost} lost` },
  ])
}

function endpointLines({ endpoints }: StatusReport): Line[] {
  return endpoints
    .filter(({ evictedUntil, consecutiveFailures }) => evictedUntil !== undefined || consecutiveFailures > 0)
    .map(
      ({ backend, endpoint, consecutiveFailures, evictedUntil }): Line => [
        { text: `${backend} ${endpoint}:` },
        { text: `${count(consecutiveFailures, 'failure')} in a row${evictedUntil === undefined ? '' : ','}` },
        ...(evictedUntil === undefined ? [] : [{ text: `evicted until ${evictedUntil}`, style: 'red' as const }]),
      ],
    )
}

function circuitLines({ openCircuits }: StatusReport): Line[] {
  return openCircuits.map(({ guard, kind, backend }) => [
    { text: `${kind} ${backend}` },
    { text: 'asked once a second', style: 'red' },
    { text: `for ${guard}` },
  ])
}

function fetchLines({ keySets, credentials }: StatusReport): Line[] {
  return [
    ...keySets.flatMap(({ backend, path, failure }): Line[] =>
      failure === undefined ? [] : [[{ text: `keys of ${backend}${path}: ${failure}`, style: 'yellow' }]],
    ),
    ...credentials.flatMap(({ source, failure }): Line[] =>
      failure === undefined ? [] : [[{ text: `${source}: ${failure}`, style: 'yellow' }]],
    ),
  ]
}

function section(title: string, lines: readonly Line[]): Line[] {
  if (lines.length === 0) return []
  const shown = lines.slice(0, MAX_LINES).map((line): Line => [{ text: ' ' }, ...line])
  const more = lines.length - shown.length
  return [
    [],
    [{ text: title, style: 'bold' }],
    ...shown,
    ...(more === 0 ? [] : [[{ text: `  and ${more} more (-o json shows all)`, style: 'dim' } as const]]),
  ]
}
