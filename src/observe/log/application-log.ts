import { clock } from '#base/clock.ts'
import { KnownSecrets, type SecretHider } from '#base/known-secrets.ts'
import { LEVELS, type Level, type LogLevels, type Module } from '#base/log-levels.ts'
import type { LineFormat } from './field-line.ts'
import { LINE_FORMATS, type LogFormat } from './line-formats.ts'

/** Values by name; undefined and empty values are omitted. */
export type LogFields = Readonly<Record<string, string | number | undefined>>

export interface LogSettings {
  readonly format: LogFormat
  /** Messages of lower levels are not written. */
  readonly levels: LogLevels
}

/** Takes lines. @returns false if they are dropped, because too many wait for the reader */
export type LogOutput = (text: string) => boolean

/** Writes one message. */
export type LogMessage = (module: Module, level: Level, message: string, fields: LogFields) => void

/**
 * The log of the gateway itself, in the format of the access log. Messages are constants, so that they can be counted and searched;
 * variable values are in fields. No value shows a secret.
 */
export class ApplicationLog {
  readonly #format: LineFormat
  /** Messages of lower levels are not written. */
  levels: LogLevels
  readonly #write: LogOutput
  /** Messages lost since the last one that was written. */
  #lost = 0
  #secrets: SecretHider = new KnownSecrets()

  constructor({ format, levels }: LogSettings, write: LogOutput) {
    this.#format = LINE_FORMATS[format]
    this.levels = levels
    this.#write = write
  }

  /** Sets the secrets that no line may show from now on. */
  hide(secrets: SecretHider): void {
    this.#secrets = secrets
  }

  /** @param module the room that the message is about; its level may be set on its own */
  log(module: Module, level: Level, message: string, fields: LogFields = {}): void {
    if (LEVELS.indexOf(level) > LEVELS.indexOf(this.levels[module] ?? this.levels.others)) return
    const format = this.#format
    let line = format.message(clock.now(), { module, level, message })
    let below = ''
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined || value === '' || format.shows?.(name, false) === false) continue
      const text = typeof value === 'number' ? undefined : this.#secrets.hide(value)
      const lines = text === undefined ? undefined : format.below(text)
      if (lines !== undefined) below += lines
      else line += format.key(name) + (text === undefined ? format.number(Number(value)) : format.text(text))
    }
    this.#send(line + format.end + below)
  }

  /** The line after lost ones has their number in front of it, whatever the levels are. */
  #send(text: string): void {
    if (this.#write(this.#lost === 0 ? text : this.#lossLine() + text)) this.#lost = 0
    else this.#lost++
  }

  #lossLine(): string {
    const format = this.#format
    const head = { module: 'observe', level: 'error', message: 'messages of this log were lost' } as const
    return format.message(clock.now(), head) + format.key('lost') + format.number(this.#lost) + format.end
  }
}
