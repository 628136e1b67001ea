import { hideCredentialParameters } from '#base/credential-names.ts'
import type { SecretHider } from '#base/known-secrets.ts'
import type { Reason } from '#base/rejections.ts'
import { sha256OfByteText } from '#base/sha256.ts'
import { turnNow } from '#base/turn.ts'
import type { Exchange, Json, PlaceNames } from '#exchange/exchange.ts'
import { readGrpcStatus } from '#exchange/read-grpc-status.ts'
import { spiffeIdOf } from '#exchange/spiffe-id.ts'
import { withoutPort } from '#net/http/field-syntax.ts'
import type { Peer } from '#net/peer.ts'
import type { ConnectionFault, WireRefusal } from '#net/stream.ts'
import type { AccessLogSettings, ConnectionPlace, Observed } from '../observer.ts'
import { writeAttempts } from './attempt-fields.ts'
import type { DefaultField } from './default-fields.ts'
import type { LineFormat } from './field-line.ts'
import { writeLlmFields } from './llm-fields.ts'

/** Why something had an end before it was a request. */
export interface Unread {
  readonly code: WireRefusal | ConnectionFault
  /** 0: nothing was answered. */
  readonly status: number
  readonly error: string
  readonly reason: Reason
  /** What the record says besides. */
  readonly detail: string | undefined
}

const NO_SECRETS: SecretHider = { hide: (text) => text, hideValues: (text) => text }

const NOTHING_REMOVED: ReadonlySet<string> = new Set()

/**
 * Writes the access-log line of a request or relayed connection (docs/behaviour/http.md, "Access log"). Absent values are left out; values are those
 * received.
 */
export class AccessLog {
  readonly #format: LineFormat
  readonly #write: (line: string) => void
  readonly #secrets: SecretHider
  /** The parts of a line that are the same for every request of a place, and of a connection; only while nothing is removed. */
  readonly #placeText = new WeakMap<PlaceNames, string>()
  readonly #peerText = new WeakMap<Peer, string>()

  constructor(format: LineFormat, write: (line: string) => void, secrets: SecretHider = NO_SECRETS) {
    this.#format = format
    this.#write = write
    this.#secrets = secrets
  }

  /** @returns false when the filter kept the line back */
  log(request: Observed, durationMs: number, error: string | undefined): boolean {
    const settings = request.settings?.accessLog
    // What a caller can bring to its limit does not hide him.
    if (settings?.filter !== undefined && !settings.filter.isTrue(request.exchange, true)) return false
    this.#write(this.#line(request, settings, durationMs, error))
    return true
  }

  /** A connection that was closed before there was a request (decisions ). */
  logConnection({ remoteAddress, remotePort, localAddress, localPort }: Peer, why: string, reason: Reason): void {
    const format = this.#format
    this.#write(
      format.start(turnNow()) +
        format.text('src.addr', `${remoteAddress}:${remotePort}`) +
        format.text('dst.addr', `${localAddress}:${localPort}`) +
        format.text('error', this.#secrets.hide(why)) +
        format.text('reason', reason) +
        format.end,
    )
  }

  /** Stands for lines that could not be written. */
  lossLine(lines: number): string {
    const format = this.#format
    return format.start(turnNow()) + format.text('error', `${lines} lines of the access log were lost`) + format.end
  }

  /** A message that the wire refused, or a connection that broke. `untold`: how many before it had no line. */
  logUnread(
    { peer, gateway, listener }: ConnectionPlace,
    { code, status, error, reason }: Unread,
    { decisionId, untold }: { readonly decisionId: string; readonly untold: number },
  ): void {
    const format = this.#format
    let line = format.start(turnNow())
    if (gateway !== '') line += format.text('gateway', gateway)
    if (listener !== '') line += format.text('listener', listener)
    line +=
      format.text('src.addr', `${peer.remoteAddress}:${peer.remotePort}`) +
      format.text('dst.addr', `${peer.localAddress}:${peer.localPort}`) +
      (status === 0 ? '' : format.json('http.status', status)) +
      format.text('error', error) +
      format.text('reason', reason) +
      format.text('code', code) +
      format.text('decision', decisionId)
    if (untold > 0) line += format.json('untold', untold)
    this.#write(line + format.end)
  }

  #line(
    request: Observed,
    settings: AccessLogSettings | undefined,
    durationMs: number,
    error: string | undefined,
  ): string {
    const { exchange } = request
    const format = this.#format
    const secrets = this.#secrets
    let added = ''
    let removed = NOTHING_REMOVED
    if (settings !== undefined) {
      // Written first: only its own names tell which default fields a flattened value takes the place of.
      const covered = settings.mayCover ? new Set(settings.remove) : undefined
      const write = (name: string, value: Json) => {
        covered?.add(name)
        added += format.foreign(secrets.hide(name), hideIn(value, secrets))
      }
      for (const { name, expression } of settings.add) expression.writeAttributes(exchange, name, write)
      removed = covered ?? settings.remove
    }
    let line = format.start(turnNow())
    const text = (name: DefaultField, value: string | undefined) => {
      if (value === undefined || value === '' || (removed.size > 0 && removed.has(name))) return
      line += format.text(name, secrets.hideValues(value))
    }
    const number = (name: DefaultField, value: number | undefined) => {
      if (value === undefined || (removed.size > 0 && removed.has(name))) return
      line += format.json(name, value)
    }

    if (exchange.place !== undefined) line += this.#place(exchange.place, removed)
    text('endpoint', request.endpointLabel)
    line += this.#peer(exchange.peer, removed)
    if (exchange.originalMethod === '') text('tls.sni', exchange.peer.serverName)
    else {
      text('http.method', exchange.originalMethod)
      text('http.host', withoutPort(exchange.originalAuthority))
      text('http.path', hideInTarget(exchange.loggedTarget))
      text('http.version', exchange.version === '2' ? 'HTTP/2' : `HTTP/${exchange.version}`)
      if (request.status !== 0) number('http.status', request.status)
      // Over HTTP/1 no client can speak gRPC.
      if (exchange.version === '2') number('grpc.status', readGrpcStatus(exchange))
    }
    text('jwt.iss', claim(exchange, 'iss'))
    text('jwt.sub', claim(exchange, 'sub'))
    text('protocol', exchange.place?.protocol)
    text('a2a.method', exchange.a2aMethod)
    if (exchange.mcp !== undefined) {
      text('mcp.method.name', exchange.mcp.method)
      text('mcp.target', exchange.mcp.target)
      text('mcp.resource.type', exchange.mcp.resourceType)
      text(mcpNameField(exchange.mcp.resourceType), hideInName(exchange.mcp.name))
      text('mcp.session.id', shortSession(exchange.mcp.sessionId))
      number('mcp.error.code', exchange.mcp.errorCode)
    }
    if (exchange.llm !== undefined) writeLlmFields(exchange.llm, durationMs, { text, number })
    if (exchange.retries > 0) number('retry.attempt', exchange.retries)
    if (exchange.attempts !== undefined) writeAttempts(exchange.attempts, text)
    text('error', error)
    if (exchange.reason !== 'Upstream') text('reason', exchange.reason)
    if (exchange.refusal !== undefined) {
      text('code', exchange.refusal)
      text('decision', request.decisionId)
    }
    text('duration', `${Math.round(durationMs)}ms`)
    return line + added + format.end
  }

  #place(place: PlaceNames, removed: ReadonlySet<string>): string {
    const known = removed.size === 0 ? this.#placeText.get(place) : undefined
    if (known !== undefined) return known
    const line = this.#fields(removed, [
      ['gateway', place.gateway],
      ['listener', place.listener],
      ['route_rule', place.rule],
      ['route', place.route],
    ])
    if (removed.size === 0) this.#placeText.set(place, line)
    return line
  }

  #peer(peer: Peer, removed: ReadonlySet<string>): string {
    const known = removed.size === 0 ? this.#peerText.get(peer) : undefined
    if (known !== undefined) return known
    const line = this.#fields(removed, [
      ['src.addr', `${peer.remoteAddress}:${peer.remotePort}`],
      ['src.identity', spiffeIdOf(peer.certificate)],
    ])
    if (removed.size === 0) this.#peerText.set(peer, line)
    return line
  }

  #fields(removed: ReadonlySet<string>, fields: readonly [DefaultField, string | undefined][]): string {
    let line = ''
    for (const [name, value] of fields) {
      if (value === undefined || value === '' || removed.has(name)) continue
      line += this.#format.text(name, this.#secrets.hideValues(value))
    }
    return line
  }
}

/** Every text in a value, at any depth. */
function hideIn(value: Json, secrets: SecretHider): Json {
  if (typeof value === 'string') return secrets.hide(value)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((element: Json) => hideIn(element, secrets))
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [secrets.hide(name), hideIn(member, secrets)]),
  )
}

function hideInTarget(target: string): string {
  return target.includes('?') ? hideCredentialParameters(target) : target
}

/** The URI of a resource may have a query. */
function hideInName(name: string | undefined): string | undefined {
  return name === undefined ? undefined : hideCredentialParameters(name)
}

function mcpNameField(type: 'tool' | 'prompt' | 'resource' | undefined): DefaultField {
  return type === 'tool' ? 'gen_ai.tool.name' : type === 'prompt' ? 'gen_ai.prompt.name' : 'mcp.resource.uri'
}

/** A session id opens its session; the log only has to tell sessions apart. */
function shortSession(id: string | undefined): string | undefined {
  return id === undefined ? undefined : sha256OfByteText(id).slice(0, 12)
}

/** A subject is one only at its issuer. */
function claim({ identity }: Exchange, name: 'iss' | 'sub'): string | undefined {
  const value = identity.jwt?.claims[name]
  return typeof value === 'string' ? value : undefined
}
