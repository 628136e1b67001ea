import { type LogLevels, readLogFilter } from '#base/log-levels.ts'
import type { LogSettings } from '#observe/log/application-log.ts'
import type { LogFormat } from '#observe/log/line-formats.ts'
import { type Environment, oneOf } from './environment.ts'
import { usualLogFormats } from './output.ts'
import { UsageError } from './usage-error.ts'

const FORMATS = ['text', 'json'] as const

export interface LogFlags {
  readonly logFormat?: string
  readonly logLevel?: string
  /** All fields, also on a terminal. */
  readonly verbose?: true
}

export interface GatewayLogSettings extends LogSettings {
  /** Of the access log. */
  readonly accessFormat: LogFormat
}

/** Log settings of the gateway; flags take precedence over the environment. On a terminal, lines are short unless a format is asked for. */
export function logSettings(flags: LogFlags, environment: Environment): GatewayLogSettings {
  const { GATEWRIGHT_LOG_FORMAT: format, GATEWRIGHT_LOG_LEVEL: level, GATEWRIGHT_ACCESS_LOG: file } = environment
  const asked =
    oneOf(FORMATS, ['--log-format', flags.logFormat], ['GATEWRIGHT_LOG_FORMAT', format]) ??
    (flags.verbose ? 'text' : undefined)
  const usual = usualLogFormats()
  return {
    format: asked ?? usual.format,
    accessFormat: asked ?? (file ? 'text' : usual.accessFormat),
    levels: flags.logLevel ? filter('--log-level', flags.logLevel) : filter('GATEWRIGHT_LOG_LEVEL', level || 'info'),
  }
}

function filter(setting: string, text: string): LogLevels {
  const { levels, faults } = readLogFilter(text)
  const [fault] = faults
  if (fault !== undefined) throw new UsageError(`${setting} is ${text}: ${fault.message}`)
  return levels
}
