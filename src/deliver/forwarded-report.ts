import type { Json, JsonObject } from '#base/json.ts'
import { parseJson } from '#base/parse-json.ts'
import type { Refusal } from '#plan/plan-link.ts'
import { type Decoded, MAX_MESSAGE_BYTES, methodOf } from './discovery-messages.ts'
import { type ProxyReport, readRefusals, readReport, writeRefusals, writeReport } from './proxy-report.ts'

/** The path of the stream on which a replica of a controller passes on what its proxies report. Each message is JSON. */
export const REPORTS_PATH = '/gatewright.dev.delivery.v1.Replicas/ForwardReports'

export const REPORTS_METHOD = methodOf(REPORTS_PATH)

/** What a replica knows about a proxy that is connected to it. */
export interface ForwardedState {
  /** Key of the Gateway. */
  readonly gateway: string
  readonly address: string
  readonly refusals: readonly Refusal[]
  /** Undefined: it has not reported yet. */
  readonly report: ProxyReport | undefined
}

/** The last word about one proxy. */
export interface ForwardedReport {
  /** Its name. */
  readonly identity: string
  /** Undefined: it is not connected any more. */
  readonly state: ForwardedState | undefined
}

export function encodeForwarded({ identity, state }: ForwardedReport): Uint8Array {
  if (state === undefined) return encode({ identity })
  const { gateway, address, refusals, report } = state
  const base = { identity, gateway, address }
  const bytes = encode({
    ...base,
    ...(refusals.length > 0 && { refusals: writeRefusals(refusals) }),
    ...(report && { report: writeReport(report) }),
  })
  if (bytes.length <= MAX_MESSAGE_BYTES) return bytes
  const message = `its report has ${bytes.length} bytes; the limit is ${MAX_MESSAGE_BYTES}`
  return encode({ ...base, refusals: writeRefusals([{ key: '', message }]) })
}

export function decodeForwarded(bytes: Uint8Array): Decoded<ForwardedReport> {
  const { identity, gateway, address, refusals, report } = read(bytes)
  if (typeof identity !== 'string') return { fault: 'the message is not about a proxy' }
  if (typeof gateway !== 'string') return { message: { identity, state: undefined } }
  const state = {
    gateway,
    address: typeof address === 'string' ? address : '',
    refusals: typeof refusals === 'string' ? readRefusals(refusals) : [],
    report: isObject(report) ? readReport(report) : undefined,
  }
  return { message: { identity, state } }
}

function encode(message: JsonObject): Uint8Array {
  return Buffer.from(JSON.stringify(message))
}

function read(bytes: Uint8Array): JsonObject {
  try {
    const message = parseJson(Buffer.from(bytes).toString()) as Json
    return isObject(message) ? message : {}
  } catch {
    return {}
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
