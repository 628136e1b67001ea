import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exchangeWith } from '#policies/shared/testing.ts'
import { backendItem, listenerItem, livePlan, matchOf, policyItem, routeItem, rules, toBackend } from '../testing.ts'
import { Decision, decide } from './decide.ts'
import { prepareAttempt } from './prepare-attempt.ts'

// No spelling of a path bypasses the rules for it (decision A-51). The servers here are modelled independently of the code under test.

interface Server {
  /** The escapes that it decodes; `no slashes`: all except `%2f`. */
  readonly decodes: 'all' | 'no slashes' | 'nothing'
  /** Removes `;x` of each segment, as servlet containers do, before it decodes or also afterwards. */
  readonly dropsParameters: 'no' | 'before' | 'after'
  readonly takesBackslashes: boolean
  readonly mergesSlashes: boolean
}

/** The file that a server serves for a path. */
function resolve(server: Server, path: string): string {
  let text = server.dropsParameters === 'no' ? path : path.replace(/;[^/]*/g, '')
  if (server.decodes !== 'nothing') {
    const keeps = server.decodes === 'all' ? '' : '/\\'
    text = text.replace(/%([0-9a-f]{2})/gi, (triplet, digits: string) => {
      const character = String.fromCharCode(Number.parseInt(digits, 16))
      return keeps.includes(character) ? triplet : character
    })
  }
  if (server.dropsParameters === 'after') text = text.replace(/;[^/]*/g, '')
  if (server.takesBackslashes) text = text.replaceAll('\\', '/')
  if (server.mergesSlashes) text = text.replace(/\/+/g, '/')
  const resolved: string[] = []
  const segments = text.split('/').slice(1)
  for (const segment of segments) {
    if (segment === '..') resolved.pop()
    else if (segment !== '.') resolved.push(segment)
  }
  if (['.', '..'].includes(segments.at(-1) ?? '')) resolved.push('')
  return `/${resolved.join('/')}`
}

const anyServer: fc.Arbitrary<Server> = fc.record({
  decodes: fc.constantFrom('all', 'all', 'no slashes', 'nothing'),
  dropsParameters: fc.constantFrom('no', 'before', 'after'),
  takesBackslashes: fc.boolean(),
  mergesSlashes: fc.boolean(),
})

const SECRET = '/ad~min/@x:y'

const isUnder = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`)

/** A path in one of its spellings; the first character is always a slash, as a request target requires. */
function anySpelling(path: string): fc.Arbitrary<string> {
  return fc.tuple(...[...path.slice(1)].map(anyCharacter)).map((spelled) => `/${spelled.join('')}`)
}

function anyCharacter(character: string): fc.Arbitrary<string> {
  const digits = character.charCodeAt(0).toString(16).padStart(2, '0')
  const escapes = [`%${digits}`, `%${digits.toUpperCase()}`]
  const separators = character === '/' ? ['\\', '%5c', '//', '/./', '/%2e/', '/x/../', '/x/.%2E%2f', '%2f', '/;p/'] : []
  return fc.oneof({ weight: 4, arbitrary: fc.constant(character) }, fc.constantFrom(...escapes, ...separators))
}

const PIECES = [
  '/',
  '/',
  '%2f',
  '%5C',
  '\\',
  '..',
  '.',
  '%2e',
  ';',
  ';a',
  '%3b',
  'a',
  '%61',
  'ad~min',
  'x',
  '%00',
  '%25',
  '%',
  '//',
]

/** Paths that probably resolve to the secret one, and unusual paths. */
const anyPath = fc.oneof(
  anySpelling(SECRET),
  fc
    .tuple(fc.constantFrom('', '/pub/..', '/pub%2f..', '/a/b/%2e%2e/..', '//'), anySpelling(`${SECRET}/z`))
    .map((parts) => parts.join('')),
  fc
    .tuple(fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }), anySpelling(SECRET))
    .map(([pieces, rest]) => `/${pieces.join('')}${rest}`),
  fc.array(fc.constantFrom(...PIECES, '@x:y', '%40x%3ay'), { maxLength: 10 }).map((pieces) => `/${pieces.join('')}`),
)

type At = ReturnType<typeof livePlan>

/** The path that the gateway sends to the server; undefined if the request is refused or a rule for the secret path matched. */
async function passed({ plan, socket }: At, target: string): Promise<string | undefined> {
  const exchange = exchangeWith({ target })
  const decision = new Decision()
  const outcome = await decide({ index: plan.index, socket, random: () => 0 }, exchange, decision)
  if (outcome !== undefined || decision.rule?.item.route.name !== 'open') return undefined
  if ((await prepareAttempt(decision.backend!.groups[0]![0]!, exchange, decision)) !== undefined) return undefined
  return exchange.request.target
}

const open = (match: string) => routeItem('open', { matches: [matchOf(match)], backends: toBackend('b') })
const guarded = (match: string) => routeItem('guarded', { matches: [matchOf(match)], backends: toBackend('b') })
const denied = (expression: string) =>
  policyItem('PreRouting.authorization', 'Gateway/default/main', rules('Deny', expression))
const BASE = [listenerItem(), open('prefix /'), backendItem('b')]
const BY_PATTERN = [listenerItem(), open('pattern /.*'), backendItem('b')]

const policies: [what: string, at: At, covers: (path: string) => boolean][] = [
  ['a rule for a prefix', livePlan(...BASE, guarded(`prefix ${SECRET}`)), (path) => isUnder(path, SECRET)],
  ['a rule for a path', livePlan(...BASE, guarded(`exact ${SECRET}`)), (path) => path === SECRET],
  [
    'a rule for a pattern',
    livePlan(...BY_PATTERN, guarded(`pattern ${SECRET}(/.*)?`)),
    (path) => isUnder(path, SECRET),
  ],
  ['an expression', livePlan(...BASE, denied(`request.path == "${SECRET}"`)), (path) => path === SECRET],
  [
    'an expression of a prefix',
    livePlan(...BASE, denied(`request.uri.contains("${SECRET}")`)),
    (path) => isUnder(path, SECRET),
  ],
]

test.each(policies)('no spelling bypasses %s', async (_, at, covers) => {
  let led = 0
  await fc.assert(
    fc.asyncProperty(anyPath, anyServer, async (target, server) => {
      if (covers(resolve(server, target))) led++
      const sent = await passed(at, target)
      if (sent !== undefined) expect(covers(resolve(server, sent)), `sent ${sent}`).toBe(false)
    }),
    { numRuns: 3000 },
  )
  // Without enough such paths the test proves nothing.
  expect(led).toBeGreaterThan(100)
})

test('ordinary paths are forwarded', async () => {
  for (const [, at] of policies) {
    for (const target of ['/ad~min2', '/pub/ad~min/@x', '/%7Eme', '/x//y/', '/a%20b?%2f..']) {
      expect(await passed(at, target)).toBeDefined()
    }
  }
})
