import { expect, test } from 'vitest'
import type { Exchange } from '#exchange/exchange.ts'
import { NO_BODIES } from '#exchange/no-bodies.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { judgeContent } from './judge-content.ts'
import { exchangeWith } from './testing.ts'

const textOf = ({ newRequestBody, requestBody }: Exchange) =>
  String(Buffer.from(newRequestBody ?? requestBody.whole ?? ''))

/** What is judged, and the body afterwards. */
async function judged(coding: string | undefined, body: string, content: Refusal | string, readsBody = true) {
  const exchange = exchangeWith({ headers: coding === undefined ? {} : { 'content-encoding': coding }, body })
  const readContent = async () => (typeof content === 'string' ? Buffer.from(content) : content)
  exchange.bodies = { ...NO_BODIES, request: { ...NO_BODIES.request, content: readContent } }
  const seen: string[] = []
  const outcome = await judgeContent(exchange, readsBody, textOf, (text) => {
    seen.push(text, textOf(exchange))
    return undefined
  })
  return outcome ?? seen
}

test('what expressions see, and what is forwarded', async () => {
  expect(await judged('gzip', 'coded', 'plain')).toEqual(['plain', 'coded'])
  expect(await judged(undefined, 'plain', 'unused')).toEqual(['plain', 'plain'])
  expect(await judged('gzip', 'coded', 'unused', false)).toEqual(['coded', 'coded'])
  expect(await judged('gzip', '', 'unused')).toEqual(['', ''])
  const refusal = reject('content-coding-invalid')
  expect(await judged('gzip', 'coded', refusal)).toBe(refusal)
})

test('the body is as received after a judgement that throws', async () => {
  const exchange = exchangeWith({ headers: { 'content-encoding': 'gzip' }, body: 'coded' })
  const fail = () => {
    throw new Error('a bug')
  }
  await expect(judgeContent(exchange, true, fail, () => undefined)).rejects.toThrow('a bug')
  expect(textOf(exchange)).toBe('coded')
})
