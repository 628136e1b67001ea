import type { Json } from '#base/json.ts'
import type { SecretHider } from '#base/known-secrets.ts'
import type { Ended } from '../ended.ts'
import { ENDED } from '../fields.ts'
import type { AccessLogSettings } from '../observer.ts'
import { AttributeFields } from './attribute-fields.ts'
import { encodeLogRecord, LOG_ATTRIBUTES } from './encode-log-record.ts'
import type { Exporters } from './exporters.ts'

/** What expressions of the policy have written. */
export interface AddedAttributes {
  readonly added: readonly (readonly [name: string, value: Json])[]
  /** Names of them, if they may replace default fields. */
  readonly covered: ReadonlySet<string> | undefined
}

/** Fields that records have as members. */
const OF_RECORD = ['trace.id', 'span.id']

/** Exports entries of the access log. They have the fields of its lines. */
export class OtlpAccessLog {
  readonly #exporters: Exporters
  readonly #secrets: SecretHider
  readonly #fields = new WeakMap<AccessLogSettings, AttributeFields<Ended>>()

  constructor(exporters: Exporters, secrets: SecretHider) {
    this.#exporters = exporters
    this.#secrets = secrets
  }

  /** @param settings with a target */
  add(ended: Ended, settings: AccessLogSettings, { added, covered }: AddedAttributes): void {
    this.#exporters.add(settings.otlp!, encodeLogRecord(ended, this.#fieldsOf(settings), added, covered))
  }

  #fieldsOf(settings: AccessLogSettings): AttributeFields<Ended> {
    let fields = this.#fields.get(settings)
    if (fields === undefined) {
      const removed = new Set([...settings.remove, ...OF_RECORD])
      fields = new AttributeFields<Ended>(LOG_ATTRIBUTES, ENDED, this.#secrets, removed)
      this.#fields.set(settings, fields)
    }
    return fields
  }
}
