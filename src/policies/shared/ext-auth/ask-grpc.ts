import { encodeMessage } from '#base/protobuf/message.ts'
import { callUnary } from '#exchange/call-unary.ts'
import { readsCredentials } from '#exchange/credential-reads.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { FailedCall } from '#exchange/failed-call.ts'
import { CALLOUT_DEADLINE_MS } from '../callout.ts'
import { CHECK_PATH, CHECK_REQUEST } from './check-messages.ts'
import { type CheckSettings, checkRequest } from './check-request.ts'
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
      describe: () => ({
        protocol: 'grpc',
        path: CHECK_PATH,
        message: request,
        bytes: encodeMessage(CHECK_REQUEST, request).length,
        secrets: secretsIn(settings, exchange),
      }),
    }
  }
}

/** Metadata whose value may come from a credential. */
function secretsIn({ requestMetadata = [] }: CheckSettings, exchange: Exchange): string[] {
  return requestMetadata.flatMap(([, value]) => (readsCredentials(value) ? textsIn(value.json(exchange)) : []))
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
