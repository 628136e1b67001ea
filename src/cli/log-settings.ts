import { type LogLevels, readLogFilter } from '#base/log-levels.ts'
import type { LogSettings } from '#observe/log/application-log.ts'
import { type Environment, oneOf } from './environment.ts'
import { UsageError } from './usage-error.ts'

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
    levels: flags.logLevel ? filter('--log-level', flags.logLevel) : filter('GATEWRIGHT_LOG_LEVEL', level || 'info'),
  }
}

function filter(setting: string, text: string): LogLevels {
  const { levels, faults } = readLogFilter(text)
  const [fault] = faults
  if (fault !== undefined) throw new UsageError(`${setting} is ${text}: ${fault.message}`)
  return levels
}
