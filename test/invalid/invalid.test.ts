import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { findKind } from '#api/kinds.ts'
import { startTestServer } from '#apiserver/testing.ts'
import { gatewright } from '#test/support/command-line.ts'
import { invalidDocuments, refusalsOf, rewriteHeader } from './invalid-document.ts'

const documents = invalidDocuments()
if (process.env.UPDATE === '1') documents.forEach(rewriteHeader)
/** Files whose text names no object of a known kind have no endpoint. */
const withEndpoint = documents.filter(({ name }) => !name.startsWith('file/'))

test('there are examples of every kind of mistake', () => {
  expect(documents.length).toBeGreaterThan(300)
})

test('each document is refused for its own reason', () => {
  const reasons = new Map<string, string[]>()
  for (const { name, expected } of documents) {
    const [folder] = name.split('/')
    const reason = `${folder} ${expected.map(({ path, text }) => `${path}: ${text}`).join(', ')}`
    reasons.set(reason, [...(reasons.get(reason) ?? []), name])
  }
  expect([...reasons.values()].filter((names) => names.length > 1)).toEqual([])
})

test.each(documents)('$name is refused', (document) => {
  expect(document.expected.length, 'the file says what is wrong with it').toBeGreaterThan(0)
  const refusals = refusalsOf(document)
  expect(refusals.map(({ path, code, line, text }) => ({ path, code, line, text }))).toEqual(document.expected)
  expect(refusals.every(({ severity }) => severity === 'error')).toBe(true)
})

test('lint says the same', async () => {
  const { code, stdout } = await gatewright(['lint', '-f', 'test/invalid', '-o', 'json'])
  expect(code).toBe(1)
  const { problems } = JSON.parse(stdout) as { problems: readonly { file?: string; code: string; path?: string }[] }
  for (const { name, expected } of withEndpoint) {
    const ofFile = problems.filter(({ file, path }) => file === `test/invalid/${name}` && path !== undefined)
    const said = ofFile.map(({ code: each, path }) => `${each} ${path}`)
    expect(said, name).toEqual(expect.arrayContaining(expected.map(({ code: each, path }) => `${each} ${path}`)))
  }
})

describe('the API', () => {
  let server: Awaited<ReturnType<typeof startTestServer>>
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(() => server.close())

  test.each(withEndpoint)('$name is refused with the same causes', async ({ text, expected }) => {
    const object = parse(text)
    const { group, plural, kind, namespaced } = findKind(object.kind)!
    const [version] = object.apiVersion.split('/').slice(-1)
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const path = `${root}${namespaced ? '/namespaces/default' : ''}/${plural}?dryRun=All`
    const { status, body } = await server.call(path, { method: 'POST', body: object })
    expect([status, body.reason]).toEqual([422, 'Invalid'])
    const causes = expected.map(({ path: field, text: message }) => ({ reason: expect.any(String), field, message }))
    expect(body.details.causes).toEqual(causes)
    const texts = causes.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`))
    const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
    const name = group === '' ? kind : `${kind}.${group}`
    expect(body.message).toBe(`${name} "${object.metadata.name}" is invalid: ${list}`)
  })
})
