import { expect, test } from 'vitest'
import type { Outcome } from '#exchange/outcome.ts'
import type { PolicyRun, PolicySource } from '../policy.ts'
import { codeOf, contextWith, exchangeWith, sourceOf, specFrom } from '../shared/testing.ts'
import { extProc } from './ext-proc/index.ts'
import { trafficExtProc } from './ext-proc/schema.ts'

/** Policies that are not implemented report it, and security policies refuse requests. */

const SERVER = { backendRef: { name: 'server', port: 9000 } }

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
