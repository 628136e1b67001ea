import { expect, test } from 'vitest'
import type { ConfigProblem } from '#base/config-problem.ts'
import type { PolicySource } from '#policies/policy.ts'
import { contextWith, exchangeWith, sourceOf } from '#policies/shared/testing.ts'
import { compile, sent } from '#test/support/prepare-llm.ts'
import { verifies } from '#test/support/verifies.ts'
import type { BackendSettings } from '../../backend-protocol.ts'
import { llm } from '../llm-protocol.ts'
import type { BackendAiSpec } from '../settings/policy-schema.ts'
import { compileAi } from './compile-ai.ts'

const one = { provider: { providerOne: {} } }

test('settings without effect are reported with their path', () => {
  const cases: [ai: object, problems: string[]][] = [
    [{ routes: { messages: 'Passthrough' } }, ['.routes["messages"]: suffix-without-slash']],
    [
      { defaults: [{ field: 'a', value: 1 }], overrides: [{ field: 'b', value: [{ c: 2 ** 53 }] }] },
      ['.overrides[0].value: number-inexact'],
    ],
    [{ modelAliases: { a: '', b: 'c' } }, ['.modelAliases["a"]: alias-empty']],
    [{ promptCaching: {} }, ['.promptCaching: no-effect']],
    [{ routes: { '/models': 'Models', '/rt': 'Realtime' } }, []],
    [{ routes: { '/raw': 'Detect' }, overrides: [{ field: 'n', value: 1 }] }, ['.routes["/raw"]: no-effect']],
    [{ routes: { '*': 'Completions' }, prompt: { prepend: [] } }, []],
  ]
  for (const [ai, problems] of cases) expect(compile(one, { ai }).problems).toEqual(problems)
})

test.each<
  [routes: Record<string, 'Passthrough' | 'Detect' | 'Models' | 'Completions' | 'Messages'>, messages: string[]]
>([
  [{ '/chat/completions': 'Completions', '/models': 'Models' }, []],
  [
    { '/raw/': 'Detect' },
    ['.routes["/raw/"] requests of type Detect are not guarded; promptGuard has no effect on them'],
  ],
  [
    { '/chat/completions': 'Completions', '/messages': 'Messages', '*': 'Passthrough' },
    [
      '.routes["*"] requests of type Passthrough are not guarded; promptGuard has no effect on them; they include /messages/count_tokens, /responses, /embeddings, /realtime, /completions, /images/generations, /images/edits, /images/variations, /audio/speech, /responses/compact, /responses/input_tokens, /conversations, /realtime/client_secrets, /realtime/sessions, /realtime/calls, /audio/transcriptions, /audio/translations, /moderations, /rerank, /batches',
    ],
  ],
  [
    { s: 'Completions', n: 'Messages', t: 'Messages', h: 'Messages', k: 'Messages', e: 'Messages', '*': 'Models' },
    ['.routes["*"] requests of type Models are not guarded; promptGuard has no effect on them'],
  ],
])('guards beside types that no guard reaches, with routes %j', (routes, messages) => {
  const ai = { routes, promptGuard: { request: [{ regex: { action: 'Mask' as const, matches: ['x'] } }] } }
  expect(compile(one, { ai }).messages.filter((message) => message.includes('guard'))).toEqual(messages)
})

test.each<[expression: string, reported: boolean]>([
  ['null', true],
  ['has(llmRequest.a) ? llmRequest.a : null', true],
  ['llmRequest.a == 1 ? ( null ) : 2', true],
  ['llmRequest.a == null ? 1 : 2', false],
  ['llmRequest.a != null', false],
  ['"x ? y : null"', false],
  ['fail("removed")', false],
])('a transformation that can give null is reported: %s', (expression, isReported) => {
  const ai = { transformations: [{ field: 'a', expression }] }
  expect(compile(one, { ai }).problems).toEqual(isReported ? ['.transformations[0].expression: inconsistent'] : [])
})

test('a limit of the answer that would be added to token counts is reported, where a provider gets them', () => {
  const routes = { '/messages': 'Messages', '/count_tokens': 'MessagesTokenCount' } as const
  const limit = (expression: string) => ({ routes, transformations: [{ field: 'max_tokens', expression }] })
  const value = { field: 'max_tokens', value: 1 }
  const cases: [ai: BackendAiSpec, problems: string[]][] = [
    [{ routes, defaults: [{ field: 'top_k', value: 1 }, value] }, ['.defaults[1]: inconsistent']],
    [{ routes, overrides: [value] }, ['.overrides[0]: inconsistent']],
    [limit('4000'), ['.transformations[0]: inconsistent']],
    [limit('min([llmRequest.max_tokens, 4000])'), []],
    [{ routes: { '/messages': 'Messages' }, defaults: [value] }, []],
  ]
  const four = { provider: { providerFour: {} } }
  for (const [ai, problems] of cases) expect(compile(four, { ai }).problems).toEqual(problems)
  // The gateway counts itself.
  expect(compile(one, { ai: { routes, defaults: [value] } }).problems).toEqual([])
})

test.each([
  [{ '/chat': 'Completions', '/messages': 'Messages' }, 1],
  [{ '/chat': 'Completions', '*': 'Messages' }, 1],
  [{ '/chat': 'Completions', '/realtime': 'Realtime' }, 1],
  [{ '/a': 'Completions', '/b': 'Completions', '*': 'Passthrough' }, 0],
  [undefined, 0],
])('a path that replaces those of several types of requests is reported: routes %j', (routes, count) => {
  const backend = { ...sourceOf({ provider: { providerOne: {}, path: '/own' } }), namespace: 'default', name: 'llm' }
  const policy = sourceOf(routes === undefined ? {} : { routes })
  const of: BackendSettings['of'] = ({ field }) => (field === 'ai' ? [policy] : []) as never
  const context = contextWith()
  compileAi(backend, { of, everyOf: of }, context)
  const reports = context.reports.filter((report) => report.startsWith('inconsistent'))
  expect(reports).toEqual(count === 0 ? [] : ['inconsistent spec.traffic.field.provider.path'])
})

test.each<[provider: object, problems: string[]]>([
  [{ providerOne: { model: 'gpt-4o' } }, []],
  [{ providerOne: { model: 'gpt4o' } }, ['.provider.providerOne.model: model-unknown']],
  [{ providerOne: {} }, []],
  // Other servers have models of their own, and Azure has deployments.
  [{ providerOne: { model: 'my-llama' }, host: 'vllm.example', port: 8000 }, []],
  [{ providerThree: { resourceName: 'r', resourceType: 'ResourceTypeOne', model: 'my-deployment' } }, []],
  [{ providerTwo: { endpoint: 'x.openai.azure.com', deploymentName: 'mine' } }, []],
])('a pinned model that the catalogue does not list is reported: %j', (provider, problems) => {
  expect(compile({ provider }).problems).toEqual(problems)
})

test('another reading of the path that leads to another type of requests is a doubt', () => {
  const backend = { ...sourceOf(one), namespace: 'default', name: 'llm' }
  const policy = sourceOf({ routes: { '/chat': 'Completions' } })
  const of: BackendSettings['of'] = ({ field }) => (field === 'ai' ? [policy] : []) as never
  const run = llm.compile(backend as never, { of, everyOf: of }, contextWith())
  const doubt = (target: string, reading: string) => {
    const exchange = exchangeWith({ target: '/received' })
    exchange.request.target = target
    return run.otherMeaning?.(exchange, reading)
  }
  expect(doubt('/chat', '/chat')).toBeUndefined()
  expect(doubt('/chat', '/x')).toBe('of type none, not Completions')
  expect(doubt('/x', '/chat')).toBe('of type Completions, not none')
})

/** Settings that the backend has itself. */
function ownSource<Spec>(spec: Spec) {
  const source = sourceOf(spec)
  return { ...source, origin: { ...source.origin, kind: 'ProxyBackend' } }
}

test('sessions at a provider that has none are an error', () => {
  const backend = { ...sourceOf({ provider: { providerFour: {} } }), namespace: 'default', name: 'llm' }
  const policy = ownSource({ routes: { '/realtime': 'Realtime' } })
  const of: BackendSettings['of'] = ({ field }) => (field === 'ai' ? [policy] : []) as never
  const context = contextWith()
  compileAi(backend, { of, everyOf: of }, context)
  expect(context.problems).toEqual([
    expect.objectContaining({
      code: 'unsupported-conversion',
      severity: 'error',
      message: expect.stringMatching(/^Realtime sessions cannot be opened at /),
    }),
  ])
})

test.each([
  ['the only provider', [['providerFour']], ['error']],
  ['all providers', [['providerFour'], ['providerFour']], ['error']],
  ['a provider after the first group', [['providerOne'], ['providerFour']], ['advice']],
  ['a provider of the first group', [['providerFour', 'providerOne']], ['warning']],
  ['no provider', [['providerOne', 'providerFive']], []],
])('embeddings that %s cannot take are reported, unless others take them', (_, kinds, severities) => {
  expect(severitiesOf(kinds, ownSource<BackendAiSpec>({ routes: { '/embeddings': 'Embeddings' } }))).toEqual(severities)
})

test('a policy may have routes for several backends, so it is advice if one of them cannot take a type', () => {
  const policy = sourceOf<BackendAiSpec>({ routes: { '/embeddings': 'Embeddings' } })
  const kinds = [
    [['providerFour']],
    [['providerFour'], ['providerFour']],
    [['providerFour', 'providerOne']],
    [['providerOne']],
  ]
  expect(kinds.map((of) => severitiesOf(of, policy))).toEqual([['advice'], ['advice'], ['warning'], []])
})

/** @param kinds of the providers, by group */
function severitiesOf(kinds: readonly (readonly string[])[], source: PolicySource<BackendAiSpec>): string[] {
  const groups = kinds.map((group, g) => ({
    providers: group.map((kind, p) => ({
      name: `p${g}${p}`,
      [kind]: {},
    })),
  }))
  const backend = { ...sourceOf({ groups }), namespace: 'default', name: 'llm' }
  const of: BackendSettings['of'] = ({ field }) => (field === 'ai' ? [source] : []) as never
  const context = contextWith()
  compileAi(backend as never, { of, everyOf: of }, context)
  const found = context.problems.filter(({ code }) => code === 'unsupported-conversion')
  for (const { message } of found) expect(message).toContain('cannot be sent to provider')
  return [...new Set(found.map(({ severity }) => severity))]
}

test('a provider without the guards of another one is reported: requests may fail over to it', () => {
  const regex = { matches: ['x'], action: 'Mask' as const }
  const both = { request: [{ regex }], response: [{ regex }] }
  const cases: [first: object | undefined, second: object | undefined, reported: string[]][] = [
    [both, both, []],
    [undefined, undefined, []],
    [both, { request: [{ regex: { ...regex, matches: ['y'] } }], response: [{ regex }] }, []],
    [
      both,
      undefined,
      [
        '.groups[1].providers[0] has no promptGuard.request, which a has; the same requests pass here unguarded',
        '.groups[1].providers[0] has no promptGuard.response, which a has; the same responses pass here unguarded',
      ],
    ],
    [
      { request: [{ regex }] },
      both,
      ['.groups[0].providers[1] has no promptGuard.response, which b has; the same responses pass here unguarded'],
    ],
    // It lets nothing pass.
    [both, { request: [{ regex: { ...regex, matches: ['(?=x)'] } }] }, []],
  ]
  for (const [first, second, reported] of cases) {
    const isOneGroup = reported.length === 1
    const a = { name: 'a', providerOne: {} }
    const b = { name: 'b', providerOne: {} }
    const groups = isOneGroup ? [{ providers: [b, a] }] : [{ providers: [a] }, { providers: [b] }]
    const of: BackendSettings['of'] = ({ field }, section) => {
      const promptGuard = section === 'a' ? first : second
      return (field === 'ai' && promptGuard !== undefined ? [sourceOf({ promptGuard })] : []) as never
    }
    const reports: string[] = []
    const context = Object.assign(contextWith(), {
      report: (_: unknown, path: string, { code, message, severity }: Omit<ConfigProblem, 'path'>) => {
        if (code !== 'guard-not-applied') return
        expect(severity).toBe('error')
        reports.push(`${path} ${message}`)
      },
    })
    const backend = { ...sourceOf({ groups }), namespace: 'default', name: 'llm' }
    compileAi(backend, { of, everyOf: of }, context)
    expect(reports).toEqual(reported)
  }
})

test('an empty alias is ignored', () => {
  expect(sent('{"model":"a"}', { ai: { modelAliases: { a: '', b: 'c' } } }).text).toBe('{"model":"a"}')
})

verifies(
  'backend.ai.groups.providers/provider-fields',
  'each provider has its own settings, credential and destination',
  () => {
    const groups = [
      {
        providers: [
          { name: 'a', providerOne: { model: 'x' }, host: 'a.example', port: 8080 },
          { name: 'b', providerFour: {}, path: 'chat' },
        ],
      },
    ]
    const detect = sourceOf({ routes: { '*': 'Detect' } })
    const key = sourceOf({ key: 'k', location: { header: { name: 'x-key' } } })
    const of: BackendSettings['of'] = ({ field }, section) =>
      (field === 'ai' && section === 'a' ? [detect] : field === 'auth' && section === 'b' ? [key] : []) as never
    const backend = { ...sourceOf({ groups }), namespace: 'default', name: 'llm' }
    const plan = compileAi(backend, { of, everyOf: of }, contextWith())
    expect(plan.providers).toMatchObject([
      {
        name: 'a',
        pin: { name: 'x' },
        destination: { host: 'a.example', port: 8080, tls: false },
        credential: undefined,
        path: undefined,
        settings: { routes: { otherwise: 'Detect' } },
      },
      {
        name: 'b',
        pin: undefined,
        destination: { host: 'api.anthropic.com', port: 443, tls: true },
        credential: { source: 'key', location: 'elsewhere' },
        path: '/chat',
        settings: { routes: { otherwise: 'Completions' } },
      },
    ])
  },
)
