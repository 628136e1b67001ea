import { expect, test } from 'vitest'
import type { ServiceGuard } from './guard.ts'
import { buildRefusal, failGuard, refuseByService } from './guard-refusals.ts'

const guard = {
  phase: 'request',
  index: 2,
  kind: 'webhook',
  refusal: buildRefusal(403, 'configured'),
  service: { destination: 'Service/default/judge/80' },
} as ServiceGuard

const TEXT = 'text/plain; charset=utf-8'

test.each([
  ['a text', 'no', TEXT],
  ['nothing', '', TEXT],
  ['a JSON object', '{"error":{"message":"no"}}', 'application/json'],
  ['other JSON', '["no"]', TEXT],
  ['a JSON text', '"no"', TEXT],
  ['broken JSON', '{"error"', TEXT],
])('the message is the body: %s', (_, message, contentType) => {
  expect(buildRefusal(403, message)).toMatchObject({ status: 403, body: message, contentType })
})

test.each([204, 205, 304])('a response of status %i has no body', (status) => {
  expect(buildRefusal(status, 'no')).toMatchObject({ status, body: '' })
})

test.each([
  [{}, 403, 'configured'],
  [{ status: 451, body: 'theirs' }, 451, 'theirs'],
  [{ status: 451, body: '' }, 451, 'configured'],
  [{ status: 204, body: 'theirs' }, 204, ''],
])('what a service brings replaces what is configured: %j', (more, status, body) => {
  expect(refuseByService(guard, { kind: 'reject', ...more })).toMatchObject({
    code: 'prompt-guard-rejected',
    status,
    body,
    detail: 'promptGuard.request[2]: webhook rejected',
  })
})

test.each([
  ['webhook', 'promptGuard.request[2]: webhook default/judge: timeout'],
  ['moderationEndpoint', 'promptGuard.request[2]: moderationEndpoint: timeout'],
] as const)('a failure says which guard, and which guard server: %s', (kind, detail) => {
  expect(failGuard({ ...guard, kind }, 'timeout')).toMatchObject({ code: 'prompt-guard-failed', detail })
})
