import { closeSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { DataPlaneOptions } from '#instance/options.ts'
import { CAN_SHARE_PORTS } from '#net/accept/listener.ts'
import { openLog } from '#observe/log/open-log.ts'
import { bodyMemory } from './body-memory.ts'
import { type Environment, readVariable } from './environment.ts'
import type { GatewayLogSettings } from './log-settings.ts'
import { metricsExport } from './metrics-export.ts'
import { priceFile } from './price-file.ts'
import { sessionKeys } from './session-keys.ts'
import { shutdownVariables } from './shutdown-variables.ts'
import { transportSetting } from './transport-setting.ts'
import { UsageError } from './usage-error.ts'

/**
 * Settings of a data plane from the environment.
 * @param workers their number, as text
 * @throws UsageError
 */
export function dataPlaneOptions(
  workers: string | undefined,
  { accessFormat }: GatewayLogSettings,
  environment: Environment,
): Omit<DataPlaneOptions, 'state'> {
  return {
    workers: workerCount(workers),
    logFormat: accessFormat,
    logFile: logFile(environment),
    shutdown: shutdownVariables(environment),
    sessionKeys: sessionKeys(environment),
    bodyMemoryBytes: bodyMemory(environment),
    prices: priceFile(environment, { watch: true }),
    metricsExport: metricsExport(environment),
    transport: transportSetting(environment),
  }
}

/** A file that cannot be opened would end every worker. */
function logFile(environment: Environment): string | undefined {
  const path = readVariable(environment, 'GATEWRIGHT_ACCESS_LOG')
  if (path === undefined) return undefined
  try {
    closeSync(openLog(path))
    return path
  } catch (error) {
    throw new UsageError(`GATEWRIGHT_ACCESS_LOG is ${path}, which cannot be opened: ${(error as Error).message}`)
  }
}

function workerCount(text: string | undefined): number {
  if (text === undefined) return CAN_SHARE_PORTS ? availableParallelism() : 1
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1 || count > 256)
    throw new UsageError(`--workers ${text} must be a number from 1 to 256`)
  if (count > 1 && !CAN_SHARE_PORTS)
    throw new UsageError(`--workers ${count}: this platform supports only one worker; use --workers 1`)
  return count
}
