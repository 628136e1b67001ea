import { LEVELS, type Level, type LogSettings } from '#observe/log/application-log.ts'
import { type Environment, oneOf } from './environment.ts'

const FORMATS = ['text', 'json'] as const

export interface LogFlags {
  readonly logFormat?: string
  readonly logLevel?: string
}

/** Log settings of the gateway; flags take precedence over the environment. The format also applies to the access log. */
export function logSettings(flags: LogFlags, environment: Environment): LogSettings {
  const { GATEWRIGHT_LOG_FORMAT: format, GATEWRIGHT_LOG_LEVEL: level } = environment
  return {
    format: oneOf(FORMATS, ['--log-format', flags.logFormat], ['GATEWRIGHT_LOG_FORMAT', format]) ?? 'text',
    level: oneOf<Level>(LEVELS, ['--log-level', flags.logLevel], ['GATEWRIGHT_LOG_LEVEL', level]) ?? 'info',
  }
}
