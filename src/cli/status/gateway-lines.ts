import type { ConfigurationReport, StatusReport } from '#admin/status-report.ts'
import type { StyledText } from '../output.ts'

type Line = readonly StyledText[]

/** A Gateway of a cluster, and what its pods say. */
export interface GatewayState {
  /** `infra/main` */
  readonly gateway: string
  readonly programmed: boolean
  /** What the controller says about that. */
  readonly message: string
  /** The newest version of its configuration, which the controller confirms to most pods; undefined: to none. */
  readonly version?: string
  readonly pods: readonly PodState[]
}

export interface PodState {
  readonly pod: string
  /** It was deleted, and finishes what it began. */
  readonly isEnding: boolean
  /** Why it is not ready; undefined: it is. */
  readonly notReady?: string
  /** Undefined: it could not be asked, or does not run. */
  readonly report?: StatusReport
  /** Why it could not be asked. */
  readonly failure?: string
  /** Why it is behind the controller; undefined: it is not, or nobody knows. */
  readonly behind?: string
}

/** Digits of a version that are shown. */
const DIGITS = 12

/** The version that the controller confirms to most pods; undefined: to none. */
export function newestVersion(pods: readonly PodState[]): string | undefined {
  const confirmed = pods.flatMap(({ report }) => {
    const { delivered, unconfirmed } = report?.configuration ?? {}
    return delivered === undefined || unconfirmed !== undefined ? [] : [delivered]
  })
  const [most] = [...Map.groupBy(confirmed, (version) => version)].toSorted(([, a], [, b]) => b.length - a.length)
  return most?.[0]
}

/** @param newest version of the configuration, as far as it is known */
export function whyBehind({ report }: PodState, newest: string | undefined): string | undefined {
  const configuration = report?.configuration
  if (configuration === undefined) return undefined
  const { inForce } = configuration
  if (inForce === undefined) return 'it has no configuration yet'
  const doubt = unconfirmedText(configuration)
  if (newest === undefined || inForce === newest) return doubt
  return [`the newest is ${shortVersion(newest)}`, doubt].filter((text) => text !== undefined).join('; ')
}

/** Why the controller may have a newer configuration; undefined: it has not. */
export function unconfirmedText({ confirmedAt, unconfirmed }: ConfigurationReport): string | undefined {
  if (unconfirmed === undefined) return undefined
  return `the controller last confirmed it ${confirmedAt === undefined ? 'never' : `at ${confirmedAt}`}: ${unconfirmed}`
}

export function shortVersion(version: string): string {
  return version.slice(0, DIGITS)
}

/** A Gateway in a line, and a line for each of its pods. */
export function gatewayLines({ gateway, programmed, message, pods }: GatewayState): readonly Line[] {
  const width = Math.max(0, ...pods.map(({ pod }) => pod.length))
  return [
    [
      { text: `${gateway}:` },
      programmed ? { text: 'programmed', style: 'green' } : { text: 'not programmed:', style: 'red' },
      { text: programmed ? '' : message },
    ],
    ...pods.map((state): Line => [{ text: ` ${state.pod.padEnd(width)}` }, ...podTexts(state)]),
  ]
}

function podTexts({ notReady, report, failure, behind }: PodState): Line {
  const inForce = report?.configuration?.inForce
  return [
    notReady === undefined ? { text: 'ready', style: 'green' } : { text: `not ready (${notReady})`, style: 'red' },
    { text: inForce === undefined ? '' : `configuration ${shortVersion(inForce)}` },
    { text: behind === undefined ? '' : `behind: ${behind}`, style: 'yellow' },
    { text: failure ?? '', style: 'red' },
  ]
}
