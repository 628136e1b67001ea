import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findField, pathText } from '#api/find-field.ts'
import { POLICIES } from '#api/policy-fields.ts'
import { exampleOf } from '#cli/policy-example.ts'
import { isUpdate } from '#test/cases/golden-case.ts'

const PAGE = 'docs/guides/policies.md'

const INTRODUCTION = `# Policies

Every policy has an example to copy. \`gatewright fields PATH\` prints it with the fields of the policy, their bounds and defaults:

\`\`\`
bin/gatewright fields ProxyPolicy.spec.traffic.rateLimit
\`\`\`
`

/** Fields of route rules and of their filters, which a ProxyPolicy does not have. */
const OF_ROUTES: Readonly<Record<string, string>> = {
  requestMirror: 'HTTPRoute.spec.rules.filters',
  requestRedirect: 'HTTPRoute.spec.rules.filters',
  urlRewrite: 'HTTPRoute.spec.rules.filters',
  sessionPersistence: 'HTTPRoute.spec.rules',
}

/** Parts of policies that have an example of their own. */
const PARTS: Readonly<Record<string, readonly string[]>> = { ai: ['ai.promptGuard'] }

function pathOf(section: string, field: string): string {
  return `${OF_ROUTES[field] ?? `ProxyPolicy.spec.${section}`}.${field}`
}

function page(): string {
  const sections = Object.entries(POLICIES).map(([section, definitions]) => {
    // Without a schema: set by the control plane, or filters of routes.
    const fields = Object.entries(definitions).flatMap(([field, { schema }]: [string, { schema?: unknown }]) =>
      schema !== undefined || (section === 'traffic' && Object.hasOwn(OF_ROUTES, field))
        ? [field, ...(PARTS[field] ?? [])]
        : [],
    )
    const rows = fields.map((field) => {
      const found = findField(pathOf(section, field))
      if ('message' in found) throw new Error(found.message)
      const example = exampleOf(found)
      const comment = /^# (.*)/.exec(example?.text ?? '')?.[1]
      return `| \`${pathText(found)}\` | ${found.node.description} | [${comment}](../../${example?.file}) |`
    })
    return [`## ${section}`, '', '| Field | What it does | Example |', '|---|---|---|', ...rows].join('\n')
  })
  return `${[INTRODUCTION, ...sections].join('\n')}\n`.replaceAll('\n## ', '\n\n## ').replace(/\n{3,}/g, '\n\n')
}

test('the page on policies links the example of every policy (UPDATE=1 writes it)', () => {
  if (isUpdate) writeFileSync(PAGE, page())
  expect(readFileSync(PAGE, 'utf8')).toBe(page())
})

test('no example is without a link', () => {
  const text = readFileSync(PAGE, 'utf8')
  const examples = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) =>
    /(?:^|\/)(?:policy-)?example\.yaml$/.test(path),
  )
  expect(examples.length).toBeGreaterThan(30)
  expect(examples.filter((path) => !text.includes(`../../src/${path})`))).toEqual([])
})
