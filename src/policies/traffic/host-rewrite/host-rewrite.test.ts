import { expect } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { codeOf, contextWith, exchangeWith, sourceOf, specFrom } from '../../shared/testing.ts'
import { hostRewrite } from './index.ts'
import { trafficHostRewrite } from './schema.ts'

verifies('traffic.hostRewrite/mode-values', 'the mode is recorded for forwarding', () => {
  for (const mode of ['Auto', 'None']) {
    const exchange = exchangeWith()
    const run = hostRewrite.compile([sourceOf(specFrom(trafficHostRewrite, { mode }))], contextWith())!
    expect(codeOf(run.request!(exchange))).toBe('proceed')
    expect(exchange.hostRewrite).toBe(mode)
  }
})
