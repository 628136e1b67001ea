import { CA_ADDRESS_FORM, isTrustDomain, parseCaAddress, TRUST_DOMAIN_FORM } from '#api/mesh-settings.ts'
import {
  isVariableName,
  type ProcessVariable,
  VARIABLES,
  type VariableName,
  variableFault,
} from '#api/process-variables.ts'
import type { ProxyParametersSpec } from '#api/proxy-parameters.ts'
import { type RawConfig, rawConfig } from '#api/raw-config.ts'
import { type FilterFault, readLogFilter, writeLogFilter } from '#base/log-levels.ts'
import { type ConfigProblem, problem, validate } from '#schema/index.ts'

/** The settings of the process in ProxyParameters, as the environment variables with the same effect (decision A-118). */
export interface ProcessSettings {
  readonly variables: Readonly<Partial<Record<VariableName, string>>>
  /** Number of workers, which no variable sets. */
  readonly workers: number | undefined
}

type Mesh = NonNullable<ProxyParametersSpec['mesh']>
type Logging = { readonly level?: string; readonly format?: string } | undefined

/** Problems for which the parameters are not used: unknown members of `rawConfig`, unknown levels, addresses that cannot be asked. */
export function settingsProblems(spec: ProxyParametersSpec): readonly ConfigProblem[] {
  const raw = validate(rawConfig, spec.rawConfig ?? {}, { path: 'spec.rawConfig' })
  return [
    ...filterProblems(spec.logging, 'spec.logging.level', 'level'),
    ...raw.problems,
    ...filterProblems(raw.value?.logging, 'spec.rawConfig.logging.level', 'level'),
    ...rawProblems(raw.value),
    ...envProblems(spec.env),
    ...meshProblems(spec.mesh),
  ]
}

/** The variable with the effect of a member of `rawConfig`. */
const VARIABLE_OF = {
  accessLog: 'GATEWRIGHT_ACCESS_LOG',
  adminAddress: 'GATEWRIGHT_ADMIN_ADDR',
  metricsAddress: 'GATEWRIGHT_STATS_ADDR',
  readinessAddress: 'GATEWRIGHT_READINESS_ADDR',
  bodyMemory: 'GATEWRIGHT_BODY_MEMORY',
  prices: 'GATEWRIGHT_PRICES',
  transport: 'GATEWRIGHT_TRANSPORT',
} as const satisfies { readonly [Member in keyof RawConfig]?: VariableName }

type Member = keyof typeof VARIABLE_OF

function rawProblems(raw: RawConfig = {}): readonly ConfigProblem[] {
  return Object.entries(VARIABLE_OF).flatMap(([member, variable]) => {
    const fault = variableFault(variable, raw[member as Member] ?? '')
    return fault === undefined ? [] : [problem(`spec.rawConfig.${member}`, 'unknown-value', fault)]
  })
}

/** Of two entries with one name, the last one applies. The messages contain no value, which may be a key. */
function envProblems(env: NonNullable<ProxyParametersSpec['env']> = []): readonly ConfigProblem[] {
  return [...expandEnv(env)].flatMap(([name, value]) => {
    const fault = isVariableName(name) ? variableFault(name, value) : undefined
    const index = env.findLastIndex((entry) => entry.name === name)
    return fault === undefined ? [] : [problem(`spec.env[${index}].value`, 'unknown-value', `of ${name} ${fault}`)]
  })
}

function meshProblems({ caAddress, trustDomain, additionalTrustDomains = [] }: Mesh = {}): readonly ConfigProblem[] {
  const isBadAddress = caAddress !== undefined && parseCaAddress(caAddress) === undefined
  const domains: readonly (readonly [path: string, domain: string])[] = [
    ...(trustDomain === undefined ? [] : [['spec.mesh.trustDomain', trustDomain] as const]),
    ...additionalTrustDomains.map((domain, i) => [`spec.mesh.additionalTrustDomains[${i}]`, domain] as const),
  ]
  return [
    ...(isBadAddress ? [problem('spec.mesh.caAddress', 'unknown-value', `must be ${CA_ADDRESS_FORM}`)] : []),
    ...domains
      .filter(([, domain]) => !isTrustDomain(domain))
      .map(([path]) => problem(path, 'unknown-value', `must be ${TRUST_DOMAIN_FORM}`)),
  ]
}

/** Levels of modules that do not exist, which have no effect. */
export function unknownModules({ logging, rawConfig: raw }: ProxyParametersSpec): readonly ConfigProblem[] {
  return [
    ...filterProblems(logging, 'spec.logging.level', 'module'),
    ...filterProblems(readRawConfig(raw).logging, 'spec.rawConfig.logging.level', 'module'),
  ]
}

function filterProblems(logging: Logging, path: string, about: FilterFault['unknown']): readonly ConfigProblem[] {
  if (logging?.level === undefined) return []
  const faults = readLogFilter(logging.level).faults.filter(({ unknown }) => unknown === about)
  const severity = about === 'module' ? 'warning' : 'error'
  return faults.map(({ message }) => problem(path, 'unknown-value', message, severity))
}

/** Settings that have no effect outside Kubernetes, by path. */
export function clusterSettings({ env = [] }: ProxyParametersSpec): Map<string, string> {
  const found = new Map<string, string>()
  for (const [i, { name, valueFrom }] of env.entries()) {
    if (!isReadByGateway(name))
      found.set(
        `spec.env[${i}]`,
        `${name} takes effect only on Kubernetes: the gateway itself does not read this variable`,
      )
    else if (valueFrom !== undefined)
      found.set(`spec.env[${i}].valueFrom`, `valueFrom of ${name} takes effect only on Kubernetes`)
  }
  return found
}

function isReadByGateway(name: string): name is VariableName {
  const { commands = [] }: Partial<ProcessVariable> = isVariableName(name) ? VARIABLES[name] : {}
  return commands.includes('run')
}

/**
 * The settings of a Gateway from its parameters without problems, in rising precedence: those of its class, then its own. `env` merges by
 * name, `logging` by field, `rawConfig` as a whole (decision A-119). `env` takes precedence over `logging`, and `logging` over `rawConfig`.
 */
export function settingsOf(parameters: readonly ProxyParametersSpec[]): ProcessSettings {
  const raw = readRawConfig(parameters.findLast((spec) => spec.rawConfig !== undefined)?.rawConfig)
  const logging = Object.assign({}, raw.logging, ...parameters.map((spec) => spec.logging)) as NonNullable<Logging>
  const known: Partial<Record<VariableName, string | undefined>> = {
    GATEWRIGHT_LOG_FORMAT: logging.format,
    GATEWRIGHT_LOG_LEVEL: logging.level === undefined ? undefined : writeLogFilter(readLogFilter(logging.level).levels),
    ...Object.fromEntries(Object.entries(VARIABLE_OF).map(([member, name]) => [name, raw[member as Member]])),
  }
  const variables: Partial<Record<VariableName, string>> = {}
  for (const [name, value] of [...Object.entries(known), ...expandEnv(parameters.flatMap(({ env = [] }) => env))]) {
    if (value !== undefined && isReadByGateway(name)) variables[name] = value
  }
  return { variables, workers: raw.workers }
}

/** Without the members that are not valid; `settingsProblems` reports them. */
function readRawConfig(value: unknown): RawConfig {
  return validate(rawConfig, value ?? {}).value ?? {}
}

const REFERENCE = /\$\$|\$\(([^)]+)\)/g

/** Values may refer to earlier variables as `$(NAME)`; `$$` is one `$`. A reference to an unknown variable is unchanged. */
function expandEnv(env: NonNullable<ProxyParametersSpec['env']>): Map<string, string> {
  const values = new Map<string, string>()
  for (const { name, value, valueFrom } of env) {
    if (valueFrom !== undefined) continue
    const expand = (whole: string, other: string | undefined) =>
      other === undefined ? '$' : (values.get(other) ?? whole)
    values.set(name, (value ?? '').replace(REFERENCE, expand))
  }
  return values
}
