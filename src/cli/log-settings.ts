import { LEVELS, type Level, type LogSettings } from '#observe/log/application-log.ts'
import { UsageError } from './usage-error.ts'

const FORMATS = ['text', 'json'] as const

export interface LogFlags {
  readonly logFormat?: string
  readonly logLevel?: string
}

/** Log settings of the gateway; flags take precedence over the environment. The format also applies to the access log. */
export function logSettings(flags: LogFlags, environment: Readonly<Record<string, string | undefined>>): LogSettings {
  const { GATEWRIGHT_LOG_FORMAT: format, GATEWRIGHT_LOG_LEVEL: level } = environment
  return {
    format: oneOf(FORMATS, ['--log-format', flags.logFormat], ['GATEWRIGHT_LOG_FORMAT', format]) ?? 'text',
    level: oneOf<Level>(LEVELS, ['--log-level', flags.logLevel], ['GATEWRIGHT_LOG_LEVEL', level]) ?? 'info',
  }
}

/** The first of these settings that is set. */
function oneOf<T extends string>(
  values: readonly T[],
  ...settings: readonly (readonly [name: string, text: string | undefined])[]
): T | undefined {
  for (const [name, text] of settings) {
    if (text === undefined || text === '') continue
    const value = values.find((known) => known === text)
    if (value !== undefined) return value
    throw new UsageError(`${name} is ${text}; it must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}`)
  }
  return undefined
}
