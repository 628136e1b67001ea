import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import type { DefinitionVersions } from '#control/status/supported-version.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import { GatewayDefinitions } from './gateway-definitions.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const SUFFIX = '.gateway.networking.k8s.io'
const FORBIDDEN = new ApiUnreadable('may not get', { status: 403 })
const AWAY = new ApiUnreadable('connection refused')

type Answer = string | undefined | Error

/** Definitions in an API that answers so by plural; others do not exist. `again` is the minute that passes. */
async function looking(answers: Record<string, Answer>) {
  const state = { answers, asked: [] as (string | undefined)[], run: () => {} }
  const [changes, failures, bugs]: [(DefinitionVersions | undefined)[], string[], unknown[]] = [[], [], []]
  vi.spyOn(clock, 'after').mockImplementation((ms, run) => {
    expect(ms).toBe(60_000)
    state.run = run
    return { cancel: () => {} }
  })
  const get = async (path: string, { accept }: { readonly accept?: string | undefined } = {}) => {
    state.asked.push(accept)
    const plural = /\/customresourcedefinitions\/(\w+)\.gateway\.networking\.k8s\.io$/.exec(path)![1]!
    const answer = state.answers[plural]
    if (answer instanceof Error) throw answer
    if (answer === undefined) return { status: 404, body: {} }
    const annotations = answer === '' ? {} : { 'gateway.networking.k8s.io/bundle-version': answer }
    return { status: 200, body: { metadata: { annotations } } }
  }
  const definitions = new GatewayDefinitions({
    client: { get },
    changed: (versions) => changes.push(versions),
    failed: (message) => failures.push(message),
    reportBug: (error) => bugs.push(error),
  })
  onTestFinished(() => definitions[Symbol.dispose]())
  await definitions.looked
  const again = async (next: Record<string, Answer>) => {
    state.answers = next
    state.run()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { definitions, state, changes, failures, bugs, again }
}

const named = (versions: Record<string, string>) =>
  new Map(Object.entries(versions).map(([plural, version]) => [`${plural}${SUFFIX}`, version]))

test('the versions of the nine kinds are read without their schemas, and told when they change', async () => {
  const { state, changes, again } = await looking({ gateways: 'v1.6.0', httproutes: '' })
  expect(state.asked).toEqual(Array(9).fill(expect.stringContaining('as=PartialObjectMetadata;')))
  await again({ gateways: 'v1.6.0', httproutes: '' })
  await again({ gateways: 'v1.7.0', tlsroutes: 'v1.7.0' })
  expect(changes).toEqual([
    named({ gateways: 'v1.6.0', httproutes: '' }),
    named({ gateways: 'v1.7.0', tlsroutes: 'v1.7.0' }),
  ])
})

test('while the API does not answer, the last versions hold; without the right, they are unknown', async () => {
  const { changes, failures, bugs, again } = await looking({ gateways: 'v1.6.0' })
  await again({ gateways: AWAY })
  await again({ gateways: AWAY })
  expect([changes.length, failures]).toEqual([1, ['connection refused']])
  await again({ gateways: FORBIDDEN })
  await again({ gateways: 'v1.6.0' })
  expect(changes).toEqual([named({ gateways: 'v1.6.0' }), undefined, named({ gateways: 'v1.6.0' })])
  expect([failures, bugs]).toEqual([['connection refused', 'may not get'], []])
  await again({ gateways: new TypeError('bug') })
  expect(bugs).toEqual([new TypeError('bug')])
})

test('after its end, nothing is told', async () => {
  const { definitions, state, changes } = await looking({})
  definitions[Symbol.dispose]()
  state.answers = { gateways: 'v1.6.0' }
  state.run()
  await new Promise((resolve) => setImmediate(resolve))
  expect(changes).toEqual([new Map()])
})
