import { toByteText } from '#base/byte-text.ts'
import { encodeMessage } from '#base/protobuf/message.ts'
import { callUnary, FailedCall } from '#exchange/call-unary.ts'
import { CALLOUT_DEADLINE_MS } from '../callout.ts'
import { CHECK_PATH, CHECK_REQUEST } from './check-messages.ts'
import { type CheckRequest, type CheckSettings, checkRequest } from './check-request.ts'
import { readCheckResponse } from './check-response.ts'
import type { Prepare } from './question.ts'

/** Asks over gRPC (`envoy.service.auth.v3`). */
export function askGrpc(settings: CheckSettings): Prepare {
  return (backend, exchange, body) => {
    const request = checkRequest(settings, exchange, body)
    return {
      async send(call, signal) {
        const answer = await callUnary(call, backend, {
          purpose: 'authorization',
          path: CHECK_PATH,
          message: encodeMessage(CHECK_REQUEST, request),
          defaultDeadlineMs: CALLOUT_DEADLINE_MS,
          signal,
        })
        return answer instanceof FailedCall ? answer : readCheckResponse(answer)
      },
      describe: () => describeCheck(request),
    }
  }
}

function describeCheck({ attributes = {} }: CheckRequest) {
  const { request, ...others } = attributes
  const { method, path, protocol, headers = new Map(), body, ...more } = request?.http ?? {}
  const fields = [...headers].filter(([name]) => !name.startsWith(':'))
  const message = [`${method} ${path} ${protocol}`, ...fields.map(([name, value]) => `${name}: ${toByteText(value)}`)]
  return {
    message: `${message.join('\r\n')}\r\n\r\n${toByteText(body ?? '')}`,
    attributes: JSON.stringify({ ...others, request: { http: more } }, (_, value) =>
      value instanceof Map ? Object.fromEntries(value) : value,
    ),
  }
}
