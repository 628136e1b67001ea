import { LEVELS, type Level, type LogSettings } from '#observe/log/application-log.ts'
import { UsageError } from './usage-error.ts'

const FORMATS = ['text', 'json'] as const

export interface LogFlags {
  readonly logFormat?: string
  readonly logLevel?: string
}

/** How the gateway logs: flags are stronger than the environment. The format is that of the access log too. */
export function logSettings(flags: LogFlags, environment: Readonly<Record<string, string | undefined>>): LogSettings {
  const { GATEWRIGHT_LOG_FORMAT: format, GATEWRIGHT_LOG_LEVEL: level } = environment
  return {
    format: oneOf(FORMATS, ['--log-format', flags.logFormat], ['GATEWRIGHT_LOG_FORMAT', format]) ?? 'text',
    level: oneOf<Level>(LEVELS, ['--log-level', flags.logLevel], ['GATEWRIGHT_LOG_LEVEL', level]) ?? 'info',
  }
}

/** The first of these settings that is given. */
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
