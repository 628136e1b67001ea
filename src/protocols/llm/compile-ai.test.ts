import { expect, test } from 'vitest'
import { compile, sent } from '#test/support/prepare-llm.ts'
import { verifies } from '#test/support/verifies.ts'
import { compileAi } from './compile-ai.ts'

const one = { provider: { providerOne: {} } }

test('what will not take effect is reported with its path', () => {
  const cases: [ai: object, problems: string[]][] = [
    [{ routes: { messages: 'Passthrough' } }, ['.routes["messages"]: suffix-without-slash']],
    [
      { defaults: [{ field: 'a', value: 1 }], overrides: [{ field: 'b', value: [{ c: 2 ** 53 }] }] },
      ['.overrides[0].value: number-inexact'],
    ],
    [{ modelAliases: { a: '', b: 'c' } }, ['.modelAliases["a"]: alias-empty']],
    [{ promptCaching: {} }, ['.promptCaching: not-implemented']],
    [
      { routes: { '/models': 'Models', '/rt': 'Realtime' } },
      ['.routes["/models"]: not-implemented', '.routes["/rt"]: not-implemented'],
    ],
    [{ routes: { '/raw': 'Detect' }, overrides: [{ field: 'n', value: 1 }] }, ['.routes["/raw"]: no-effect']],
    [{ routes: { '*': 'Completions' }, prompt: { prepend: [] } }, []],
  ]
  for (const [ai, problems] of cases) expect(compile(one, { ai }).problems).toEqual(problems)
})

test('an alias for nothing is none', () => {
  expect(sent('{"model":"a"}', { ai: { modelAliases: { a: '', b: 'c' } } }).text).toBe('{"model":"a"}')
})

verifies(
  'backend.ai.groups.providers/provider-fields',
  'each provider has its own settings, credential and destination',
  () => {
    const plan = compileAi({
      spec: {
        groups: [
          {
            providers: [
              { name: 'a', providerOne: { model: 'x' }, host: 'a.example', port: 8080 },
              { name: 'b', providerFour: {}, path: 'chat' },
            ],
          },
        ],
      },
      report: () => {},
      settingsOf: (name) =>
        name === 'a'
          ? { spec: { routes: { '*': 'Detect' } }, report: () => {}, expression: () => expect.unreachable() }
          : undefined,
      credentialOf: (name) => (name === 'b' ? { source: 'key', explicitLocation: true } : undefined),
    })
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
        credential: { source: 'key', explicitLocation: true },
        path: '/chat',
        settings: { routes: { otherwise: 'Completions' } },
      },
    ])
  },
)
