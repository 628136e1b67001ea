import { clock } from '#base/clock.ts'
import { KnownSecrets, type SecretHider } from '#base/known-secrets.ts'
import { JSON_LINE, type LineFormat, TEXT_LINE } from './field-line.ts'

/** From the most to the least severe. */
export const LEVELS = ['error', 'warn', 'info', 'debug'] as const
export type Level = (typeof LEVELS)[number]

/** Values by name; undefined and empty values are omitted. */
export type LogFields = Readonly<Record<string, string | number | undefined>>

export interface LogSettings {
  readonly format: 'text' | 'json'
  /** Messages of lower levels are not written. */
  readonly level: Level
}

/**
 * The log of the gateway itself, in the format of the access log. Messages are constants, so that they can be counted and searched;
 * variable values are in fields. No value shows a secret.
 */
export class ApplicationLog {
  readonly #format: LineFormat
  readonly #lowest: number
  readonly #write: (text: string) => void
  #secrets: SecretHider = new KnownSecrets()

  constructor({ format, level }: LogSettings, write: (text: string) => void) {
    this.#format = format === 'json' ? JSON_LINE : TEXT_LINE
    this.#lowest = LEVELS.indexOf(level)
    this.#write = write
  }

  /** Sets the secrets that no line may show from now on. */
  hide(secrets: SecretHider): void {
    this.#secrets = secrets
  }

  log(level: Level, message: string, fields: LogFields = {}): void {
    if (LEVELS.indexOf(level) > this.#lowest) return
    const format = this.#format
    let line = format.message(clock.now(), level, message)
    let below = ''
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined || value === '') continue
      const text = typeof value === 'number' ? undefined : this.#secrets.hide(value)
      const lines = text === undefined ? undefined : format.below(text)
      if (lines !== undefined) below += lines
      else line += format.key(name) + (text === undefined ? format.number(Number(value)) : format.text(text))
    }
    this.#write(line + format.end + below)
  }
}
