import { heapOfJson } from '#base/heap-of-json.ts'
import { decodeMessage } from '#base/protobuf/message.ts'
import { FailedCall } from '#exchange/failed-call.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { clientHeaders, headerEdits } from '../fields/header-edits.ts'
import { isServerField } from '../fields/server-fields.ts'
import { CHECK_RESPONSE, type DeniedResponse, type OkResponse } from './check-messages.ts'
import { NO_EDITS, type RequestEdits, type Verdict } from './verdict.ts'

/** Reads a CheckResponse. @returns a failure if the bytes are none */
export function readCheckResponse(bytes: Uint8Array): Verdict | FailedCall {
  const response = decodeMessage(CHECK_RESPONSE, bytes)
  if (response === undefined) return new FailedCall('response-invalid', 'the message is not a CheckResponse')
  const { status, okResponse, deniedResponse } = response
  const metadata = response.dynamicMetadata ?? okResponse?.dynamicMetadata
  const code = status?.code ?? 0
  const more = { status: 'OK', metadata, bytes: bytes.length + heapOfJson(metadata ?? null) }
  if (code === 0) return { ...more, refusal: undefined, edits: requestEdits(okResponse) }
  const detail = `the authorization server denied with code ${code}`
  return { ...more, refusal: refusalOf(deniedResponse, detail), edits: NO_EDITS }
}

function requestEdits(ok: OkResponse | undefined): RequestEdits {
  if (ok === undefined) return NO_EDITS
  return {
    removedHeaders: (ok.headersToRemove ?? []).map((name) => name.toLowerCase()).filter(isServerField),
    headers: headerEdits(ok.headers),
    setParameters: (ok.queryParametersToSet ?? []).map(({ key = '', value = '' }) => [key, value] as const),
    removedParameters: ok.queryParametersToRemove ?? [],
    responseHeaders: clientHeaders(ok.responseHeadersToAdd),
  }
}

/** A server that only says no leaves status and text to us. */
function refusalOf(denied: DeniedResponse | undefined, detail: string): Refusal {
  if (denied === undefined) return reject('ext-auth-denied', { detail })
  const { status, headers, body = '' } = denied
  const sent = clientHeaders(headers)
  return reject('ext-auth-denied', {
    detail,
    status: statusOf(status?.code),
    headers: sent.filter(([name]) => name !== 'content-type'),
    contentType: sent.find(([name]) => name === 'content-type')?.[1],
    body,
  })
}

/** Undefined: that of the refusal. */
function statusOf(code: number | undefined): number | undefined {
  return code !== undefined && code >= 200 && code <= 599 ? code : undefined
}
