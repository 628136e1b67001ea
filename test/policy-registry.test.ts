import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { httpRoute } from '#api/http-route.ts'
import { POLICIES, policyDefinition } from '#api/policy-fields.ts'
import { proxyPolicy } from '#api/proxy-policy.ts'
import { contextWith, sourceOf } from '#policies/shared/testing.ts'
import { validate } from '#schema/index.ts'
import { importKey } from '#workers/import-key.ts'

test('a definition is registered under its name', () => {
  for (const [section, definitions] of Object.entries(POLICIES)) {
    for (const [field, definition] of Object.entries(definitions)) expect(definition).toMatchObject({ section, field })
  }
})

test('the stronger policy replaces a field, but for these', () => {
  const rules = Object.values(POLICIES)
    .flatMap((definitions) => Object.values(definitions))
    .filter(({ merge }) => merge !== 'replace')
    .map(({ section, field, merge }) => `${section}.${field} ${merge}`)
  expect(rules).toEqual([
    'frontend.networkAuthorization accumulate',
    'traffic.transformation members',
    'traffic.rateLimit members',
    'traffic.headerModifiers members',
    'traffic.timeouts members',
    'traffic.authorization accumulate',
    'traffic.requestMirror accumulate',
    'backend.tls members',
    'backend.ai members',
    'backend.transformation members',
    'backend.mcp members',
  ])
})

test('a name that is no field has no definition', () => {
  expect(policyDefinition('traffic', 'rateLimits')).toBeUndefined()
  expect(policyDefinition('traffic', 'toString')).toBeUndefined()
})

const ROOM = fileURLToPath(new URL('../src/policies', import.meta.url))
const PROTOCOLS = fileURLToPath(new URL('../src/protocols', import.meta.url))
const SECTIONS = ['frontend', 'traffic', 'backend', 'route'] as const

const folders = SECTIONS.flatMap((section) =>
  readdirSync(join(ROOM, section), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [{ section, name: entry.name, file: join(ROOM, section, entry.name, 'example.yaml') }] : [],
  ),
)

/** Fields that stand beside the protocol that they are for. */
const ofProtocols = [
  { section: 'backend', name: 'ai', file: join(PROTOCOLS, 'llm/policy-example.yaml') },
  { section: 'backend', name: 'mcp', file: join(PROTOCOLS, 'mcp/policy-example.yaml') },
] as const

/** The path of a folder is the path of its field, in kebab-case. */
function fieldOf(folder: string): string {
  return folder.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** What the example says in the field of its folder, after validation of the whole object. */
function specOf(section: string, field: string, example: unknown): unknown {
  if (section === 'route') {
    const { value, problems } = validate(httpRoute, example)
    expect(problems).toEqual([])
    const rule = value?.spec.rules?.[0]
    const filter = rule?.filters?.[0]
    return filter?.[field as keyof typeof filter] ?? rule?.[field as keyof typeof rule]
  }
  const { value, problems } = validate(proxyPolicy, example)
  expect(problems).toEqual([])
  const fields: Readonly<Record<string, unknown>> = value?.spec[section as 'traffic'] ?? {}
  return fields[field]
}

const ALLOWED = new Set(['not-implemented', 'secret-missing', 'certificate-missing'])

for (const { section, name, file } of [...folders, ...ofProtocols]) {
  test(`the example of ${section}/${name} is valid and compiles`, () => {
    expect(existsSync(file)).toBe(true)
    const spec = specOf(section, fieldOf(name), parse(readFileSync(file, 'utf8')))
    expect(spec).toBeDefined()
    const definition = policyDefinition(section === 'route' ? 'traffic' : section, fieldOf(name))
    const context = contextWith({ importKey })
    definition?.compile([sourceOf(spec as never)], context)
    expect(definition).toBeDefined()
    expect(context.problems.filter(({ code }) => !ALLOWED.has(code))).toEqual([])
  })
}
