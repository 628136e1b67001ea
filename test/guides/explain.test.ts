import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'
import { envoyService } from '#test/support/envoy-definitions.ts'
import { startGrpcService } from '#test/support/grpc-peers.ts'
import { startKeySetServer } from '#test/support/key-set-server.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { createSigningKey, signToken } from '#test/support/token-issuer.ts'
import { isAsShown } from './guide-page.ts'

// The guide shows what explain prints, with servers of other implementations.

const GUIDE = readFileSync('docs/guides/explain.md', 'utf8')
const POLICIES = /```yaml\n(.*?)```/s.exec(GUIDE)![1]!
const [, COMMAND = '', OUTPUT = ''] = /```\n\$ bin\/gatewright (.*?)\n(.*?)```/s.exec(GUIDE)!

const AUTHORIZATION = envoyService('envoy/service/auth/v3/external_auth.proto', 'envoy.service.auth.v3.Authorization')
const LIMITS = envoyService('envoy/service/ratelimit/v3/rls.proto', 'envoy.service.ratelimit.v3.RateLimitService')
const OVER_LIMIT = 2

const key = createSigningKey('P-256')
const TOKEN = signToken(key, 'ES256', {
  iss: 'https://id.example',
  sub: 'ann',
  exp: Math.floor(Date.now() / 1000) + 600,
})

const stops = new AsyncDisposableStack()
let folder: ObjectsFolder
const asked: string[] = []

beforeAll(async () => {
  const issuer = await startKeySetServer([key])
  stops.defer(issuer.close)
  const authz = await startGrpcService(AUTHORIZATION, {
    check() {
      asked.push('check')
      return { status: { code: 0 } }
    },
  })
  stops.defer(authz.close)
  const limits = await startGrpcService(LIMITS, {
    shouldRateLimit() {
      asked.push('limit')
      return { overallCode: OVER_LIMIT }
    },
  })
  stops.defer(limits.close)
  const objects = [gatewayYaml(8080), backendYaml('web', 9), routeYaml('shop', '/', 'web')]
  const servers = { issuer, authz, limits }
  for (const [name, { port }] of Object.entries(servers)) objects.push(backendYaml(name, port))
  folder = await createObjectsFolder({ 'gateway.yaml': joinYaml(...objects), 'policies.yaml': POLICIES })
  stops.defer(folder.remove)
})

afterAll(() => stops.disposeAsync())

async function explain(words: readonly string[]): Promise<string> {
  const { stdout } = await gatewright(words)
  return stdout.replaceAll(folder.path, 'shop')
}

/** Sizes and times differ from run to run. */
const leveled = (text: string) => text.replaceAll(/\d+ (ms|bytes)/g, 'N $1')

function wordsOf(command: string): string[] {
  const words = [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c!)
  return words.map((word) => word.replace('$TOKEN', TOKEN)).map((word) => (word === 'shop' ? folder.path : word))
}

test('with --call it asks, and continues with the answers', async () => {
  const stdout = leveled(await explain(wordsOf(COMMAND)))
  expect(asked).toEqual(['check', 'limit'])
  expect(isAsShown(leveled(OUTPUT), stdout), stdout).toBe(true)
  for (const secret of [TOKEN, 'k3y']) expect(stdout).not.toContain(secret)
})

test('without --call nothing is sent', async () => {
  asked.length = 0
  const words = wordsOf(COMMAND).filter((word) => word !== '--call')
  expect(await explain(words)).toMatch(
    /jwtAuthentication +refuse: without --call, the key set of the issuer is not fetched/,
  )
  expect(asked).toEqual([])
})

test('--show-secrets shows what is sent', async () => {
  const stdout = await explain([...wordsOf(COMMAND), '--show-secrets'])
  expect(stdout).toContain('          x-api-key: "k3y"\n')
  expect(stdout).toContain('      value: "k3y"\n')
})
