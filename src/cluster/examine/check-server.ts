import { clock } from '#base/clock.ts'
import { type ApiClient, parseAnswer } from '../api-client.ts'
import { membersOf, textOf } from '../kubeconfig.ts'
import { type Check, failure, ok, warning } from './check.ts'

/** Minor versions of Kubernetes 1: the oldest that the charts accept, and the newest that tests use. */
export const SUPPORTED = { oldest: 31, newest: 37 } as const

/** Tokens and certificates begin to be valid when they are made: a clock that is behind refuses them. */
const MAX_SKEW_MS = 5000

export interface ServerChecks {
  readonly checks: readonly Check[]
  /** How far the clock of the server is ahead of this one, in milliseconds. */
  readonly skewMs: number
}

/** Checks the version and the clock of an API server. @throws ApiUnreadable */
export async function checkServer(client: ApiClient): Promise<ServerChecks> {
  const sentMs = clock.now()
  const { text, dateMs } = await client.read('/version')
  const receivedMs = clock.now()
  const { gitVersion } = membersOf(parseAnswer(text))
  const checks = [checkVersion(client.server, textOf(gitVersion) ?? '')]
  if (dateMs === undefined) return { checks, skewMs: 0 }
  // The date has no fraction of a second, and was written between the two readings of the clock here.
  const ahead = dateMs - receivedMs
  const behind = sentMs - (dateMs + 1000)
  const skewMs = ahead > 0 ? ahead : behind > 0 ? -behind : 0
  return { checks: [...checks, checkClock(skewMs)], skewMs }
}

function checkVersion(server: string, version: string): Check {
  const [oldest, newest] = [`1.${SUPPORTED.oldest}`, `1.${SUPPORTED.newest}`]
  const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(version) ?? []
  const what = `${server} is Kubernetes ${version === '' ? 'of an unknown version' : version}`
  if (minor === undefined) return warning('server', what, `the supported versions are ${oldest} to ${newest}`)
  if (major === '1' && Number(minor) < SUPPORTED.oldest)
    return failure('server', what, `upgrade the cluster to ${oldest} or later`)
  if (major === '1' && Number(minor) <= SUPPORTED.newest) return ok('server', what)
  return warning('server', what, `the newest version that is tested is ${newest}; a later gateway may know this one`)
}

function checkClock(skewMs: number): Check {
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return ok('clocks', 'the API server has the time of this machine')
  const how = skewMs > 0 ? 'ahead of' : 'behind'
  return warning(
    'clocks',
    `the clock of the API server is ${seconds} s ${how} that of this machine`,
    'let both synchronise their clocks: certificates and tokens seem not yet valid, or expired, where a clock is wrong',
  )
}
