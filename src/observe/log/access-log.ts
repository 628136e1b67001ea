import { clock } from '#base/clock.ts'
import type { Json } from '#base/json.ts'
import type { SecretHider } from '#base/known-secrets.ts'
import type { Reason } from '#base/rejections.ts'
import type { Peer } from '#net/peer.ts'
import type { Ended } from '../ended.ts'
import { DENIED, type Denied, ENDED, UNREAD, type Unread } from '../fields.ts'
import { hideIn } from '../hide-in.ts'
import type { AccessLogSettings } from '../observer.ts'
import type { OtlpAccessLog } from '../otlp/otlp-access-log.ts'
import type { LineFormat } from './field-line.ts'
import { LineFields } from './line-fields.ts'

const NO_SECRETS: SecretHider = { version: 0, hide: (text) => text, hideValues: (text) => text }

/**
 * Writes the access log line of a request or relayed connection (docs/behaviour/observability.md, "Access log"). Absent values are omitted. Values
 * are those received from the client.
 */
export class AccessLog {
  readonly #format: LineFormat
  readonly #write: (line: string) => void
  readonly #secrets: SecretHider
  readonly #copy: OtlpAccessLog | undefined
  readonly #ended: LineFields<Ended>
  readonly #unread: LineFields<Unread>
  readonly #denied: LineFields<Denied>
  /** The fields of requests for listeners that remove some. */
  readonly #endedBySettings = new WeakMap<AccessLogSettings, LineFields<Ended>>()

  /** @param copy gets the entries that are exported, too */
  constructor(
    format: LineFormat,
    write: (line: string) => void,
    secrets: SecretHider = NO_SECRETS,
    copy?: OtlpAccessLog,
  ) {
    this.#format = format
    this.#copy = copy
    this.#write = write
    this.#secrets = secrets
    this.#ended = new LineFields<Ended>(ENDED, format, secrets)
    this.#unread = new LineFields<Unread>(UNREAD, format, secrets)
    this.#denied = new LineFields<Denied>(DENIED, format, secrets)
  }

  /** @returns false if the filter omits the line */
  log(ended: Ended): boolean {
    const settings = ended.request.settings?.accessLog
    const format = this.#format
    if (settings === undefined) {
      this.#write(format.start(ended.timeMs) + this.#ended.write(ended) + format.end)
      return true
    }
    // A filter that exceeds its limit does not suppress the line: a client must not be able to hide its requests.
    if (settings.filter !== undefined && !settings.filter.isTrue(ended.exchange, true)) return false
    this.#write(this.#lineWith(settings, ended))
    return true
  }

  /** A connection that was closed before it had a request (decisions ). */
  logConnection(peer: Peer, error: string, reason: Reason): void {
    this.#line(this.#denied.write({ peer, error, reason }))
  }

  /** The line that replaces lines that could not be written. */
  lossLine(lines: number): string {
    const format = this.#format
    return (
      format.start(clock.now()) +
      format.key('error') +
      format.text(`${lines} lines of the access log were lost`) +
      format.end
    )
  }

  /** A message that the HTTP parser refused, or a broken connection. */
  logUnread(unread: Unread): void {
    this.#line(this.#unread.write(unread))
  }

  #line(fields: string): void {
    this.#write(this.#format.start(clock.now()) + fields + this.#format.end)
  }

  #lineWith(settings: AccessLogSettings, ended: Ended): string {
    const format = this.#format
    const secrets = this.#secrets
    // Written first: only its member names determine which default fields a flattened value replaces.
    const covered = settings.mayCover ? new Set<string>() : undefined
    let added = ''
    const exported: [name: string, value: Json][] | undefined = settings.otlp && []
    if (settings.add.length > 0) {
      const write = (name: string, value: Json) => {
        covered?.add(name)
        const shown: [string, Json] = [secrets.hide(name), hideIn(value, secrets)]
        added += format.foreign(...shown)
        exported?.push(shown)
      }
      for (const { name, expression } of settings.add) expression.writeAttributes(ended.exchange, name, write)
    }
    if (exported !== undefined) this.#copy?.add(ended, settings, { added: exported, covered })
    return format.start(ended.timeMs) + this.#fieldsOf(settings).write(ended, covered) + added + format.end
  }

  #fieldsOf(settings: AccessLogSettings): LineFields<Ended> {
    if (settings.remove.size === 0) return this.#ended
    let fields = this.#endedBySettings.get(settings)
    if (fields === undefined) {
      fields = new LineFields<Ended>(ENDED, this.#format, this.#secrets, settings.remove)
      this.#endedBySettings.set(settings, fields)
    }
    return fields
  }
}
