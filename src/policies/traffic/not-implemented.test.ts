import { expect, test } from 'vitest'
import type { Outcome } from '#exchange/outcome.ts'
import { extAuth as backendExtAuth } from '../backend/ext-auth/index.ts'
import type { PolicyRun, PolicySource } from '../policy.ts'
import { codeOf, contextWith, exchangeWith, sourceOf, specFrom } from '../shared/testing.ts'
import { extAuth } from './ext-auth/index.ts'
import { trafficExtAuth } from './ext-auth/schema.ts'
import { extProc } from './ext-proc/index.ts'
import { trafficExtProc } from './ext-proc/schema.ts'

/** Policies that are not implemented report it, and security policies refuse requests. */

const SERVER = { backendRef: { name: 'server', port: 9000 } }
const HTTP = { ...SERVER, http: {} }

interface Compiles<Spec> {
  compile(sources: readonly PolicySource<Spec>[], context: ReturnType<typeof contextWith>): PolicyRun | undefined
}

function tryOut<Spec>(definition: Compiles<Spec>, spec: Spec, headers = {}) {
  const context = contextWith()
  const run = definition.compile([sourceOf(spec)], context)
  const outcome = run?.request?.(exchangeWith({ headers })) as Outcome
  const detail = outcome?.kind === 'refusal' ? outcome.detail : undefined
  return { code: codeOf(outcome), ...(detail !== undefined && { detail }), reports: context.reports }
}

const WHOLE = ['not-implemented spec.traffic.field']
const NO_EXT_AUTH = { code: 'ext-auth-denied', detail: 'extAuth is not implemented yet' }

test('extAuth refuses in both failure modes, because authorization is never requested', () => {
  for (const failureMode of [undefined, 'FailClosed', 'FailOpen']) {
    const spec = specFrom(trafficExtAuth, { ...HTTP, failureMode })
    expect(tryOut(extAuth, spec)).toEqual({ ...NO_EXT_AUTH, reports: WHOLE })
    expect(tryOut(backendExtAuth, spec as never)).toEqual({ ...NO_EXT_AUTH, reports: WHOLE })
  }
})

test('extAuth: every item that is selected refuses; without one, the request passes', () => {
  const spec = specFrom(trafficExtAuth, {
    conditional: [
      { condition: 'request.headers["x"] == "open"', policy: { ...HTTP, failureMode: 'FailOpen' } },
      { condition: 'request.headers["x"] == "closed"', policy: HTTP },
    ],
  })
  expect(['open', 'closed', 'other'].map((x) => tryOut(extAuth, spec, { x }).code)).toEqual([
    'ext-auth-denied',
    'ext-auth-denied',
    'proceed',
  ])
  expect(tryOut(extAuth, spec).code).toBe('proceed')
})

test('extAuth: a condition that does not compile refuses', () => {
  const policy = { ...HTTP, failureMode: 'FailOpen' }
  const spec = specFrom(trafficExtAuth, { conditional: [{ condition: '1 +', policy }] })
  expect(tryOut(extAuth, spec)).toEqual({
    ...NO_EXT_AUTH,
    reports: [
      'cel-syntax spec.traffic.field.conditional[0].condition',
      'not-implemented spec.traffic.field.conditional[0].policy',
    ],
  })
})

test('extProc has no failure mode, so it refuses', () => {
  expect(tryOut(extProc, specFrom(trafficExtProc, SERVER))).toEqual({
    code: 'ext-proc-failed',
    detail: 'extProc is not implemented yet',
    reports: WHOLE,
  })
  const conditional = [{ condition: 'request.headers["x"] == "1"', policy: SERVER }]
  const spec = specFrom(trafficExtProc, { conditional })
  expect(tryOut(extProc, spec, { x: '1' }).code).toBe('ext-proc-failed')
  expect(tryOut(extProc, spec, { x: '2' }).code).toBe('proceed')
})
