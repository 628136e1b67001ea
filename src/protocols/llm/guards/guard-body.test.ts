import { setImmediate } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { runAtOnce, type Steps } from '#base/in-slices.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { FORMATS } from '../dialects/index.ts'
import { documentOf } from '../texts/testing.ts'
import type { Guard, RegexGuard, ServiceGuard } from './guard.ts'
import { guardBody, type ReadBody } from './guard-body.ts'
import { compileRules } from './rules/compile-rules.ts'
import type { ServiceVerdict } from './services/service.ts'
import { GuardedTexts } from './texts/guarded-texts.ts'

const GUARD: RegexGuard = {
  ...{ phase: 'request', index: 0, kind: 'regex', rejects: false, refusal: reject('prompt-guard-rejected') },
  rules: compileRules({ matches: ['secret'] }, () => {}),
}
const REFUSAL = reject('llm-body-invalid')

// The work of other tests counts for this turn.
beforeEach(() => setImmediate())

/** A body whose reading takes several turns. */
function* readLate(content: string): Steps<ReadBody | Refusal> {
  let isLater = false
  void setImmediate().then(() => {
    isLater = true
  })
  while (!isLater) yield
  if (content === '') return REFUSAL
  const bytes = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] }))
  const texts = runAtOnce(
    GuardedTexts.read(bytes, runAtOnce(FORMATS.Completions.readRequestTexts(documentOf(bytes.toString())))),
  )
  if (!(texts instanceof GuardedTexts)) throw new Error(texts.unreadable)
  return { texts, write: () => texts.apply() }
}

const serviceThat = (verdict: ServiceVerdict): ServiceGuard => ({
  ...{ phase: 'request', index: 1, kind: 'webhook', refusal: reject('prompt-guard-rejected') },
  service: { kind: 'webhook', destination: 'ProxyBackend/default/judge', masks: true, judge: async () => verdict },
})

const guard = (content: string, guards: readonly Guard[] = [GUARD]) =>
  guardBody({
    guards,
    exchange: exchangeWith(),
    head: Head.request('POST', '/'),
    read: readLate(content),
  })

test('a body that is read in several turns is guarded all the same', async () => {
  const guarded = guard('a secret')
  expect(guarded).toBeInstanceOf(Promise)
  expect(Buffer.from((await guarded) as Uint8Array).toString()).toBe(
    '{"messages":[{"role":"user","content":"a <masked>"}]}',
  )
})

test('a body that turns out late to be unreadable is refused', async () => {
  const guarded = guard('')
  expect(guarded).toBeInstanceOf(Promise)
  expect(await guarded).toBe(REFUSAL)
})

test.each<[verdict: ServiceVerdict, content: string]>([
  [{ kind: 'pass' }, 'a <masked>'],
  [{ kind: 'mask', contents: ['a word'] }, 'a word'],
])('a service is asked about a body that is read late: %j', async (verdict, content) => {
  const guarded = await guard('a secret', [GUARD, serviceThat(verdict)])
  expect(Buffer.from(guarded as Uint8Array).toString()).toBe(JSON.stringify({ messages: [{ role: 'user', content }] }))
})

test('what a service rejects is refused', async () => {
  expect(await guard('a secret', [GUARD, serviceThat({ kind: 'reject' })])).toMatchObject({
    code: 'prompt-guard-rejected',
  })
})
