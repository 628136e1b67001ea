import { resolve } from 'node:path'
import { KnownSecrets } from '#base/known-secrets.ts'
import { BEHIND_SERVICES } from '#cluster/statuses/behind-services.ts'
import { readProcessSettings } from '#control/gateways/read-process-settings.ts'
import { secretsOfObject } from '#control/secret-values.ts'
import { defaultSettings } from '#deploy/settings.ts'
import { gatewayAddresses } from '#instance/address-pool.ts'
import { VERSION } from '#instance/version.ts'
import { placeFindings } from '#store/place-findings.ts'
import { oneOf } from '../environment.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { problemLines } from '../finding-lines.ts'
import { type ListenFlags, listenAddresses } from '../listen-addresses.ts'
import { loadPlan } from '../load-plan.ts'
import type { PathFlags } from '../object-paths.ts'
import { type ApiFlags, readObjects } from '../object-source.ts'
import { operatorSockets } from '../operator-addresses.ts'
import { printStyled } from '../output.ts'
import { priceFile } from '../price-file.ts'
import { renderPlanned } from '../render/render-gateways.ts'
import { UsageError } from '../usage-error.ts'
import { advise } from './advise.ts'
import { type FixedFiles, fixFiles } from './fix-files.ts'
import { FORMATS, type Format, report } from './report.ts'

/** Problems that make `lint` fail. */
const FAIL_ON = ['errors', 'warnings', 'never'] as const

export interface LintFlags extends ApiFlags, ListenFlags, PathFlags {
  readonly allowExternalName?: true
  readonly failOn?: string
  readonly verbose?: true
  readonly output?: string
  /** Corrects what has only one possible correction. */
  readonly fix?: true
  /** Shows the corrections and changes nothing. */
  readonly dryRun?: true
}

/** Checks objects as a gateway would, without running one. */
export async function lint(paths: readonly string[], { verbose, ...flags }: LintFlags): Promise<ExitCode> {
  const format = oneOf(FORMATS, ['--output', flags.output]) ?? 'text'
  const failOn = oneOf(FAIL_ON, ['--fail-on', flags.failOn]) ?? 'errors'
  const local = gatewayAddresses(listenAddresses(flags))
  const isCluster = flags.kubeconfig !== undefined
  // In a cluster each Gateway has an address of its own.
  const addresses = isCluster ? BEHIND_SERVICES : local
  const fixed = fix(paths, flags, format)
  const { store, isRemote } = await readObjects('lint', paths, flags)
  // Another machine has the file of prices of a gateway there.
  const variables = isRemote ? {} : readProcessSettings(store.list()).variables
  const { items, findings } = loadPlan(store, {
    addresses,
    allowsExternalNames: flags.allowExternalName ?? false,
    servers: operatorSockets({ ...variables, ...process.env }, flags.bind),
  })
  const deployment = isCluster ? renderPlanned(store.list(), items, defaultSettings(VERSION)).findings : []
  const advice = verbose ? advise(items, store.list()) : []
  const prices = priceFile({ GATEWRIGHT_PRICES: process.env.GATEWRIGHT_PRICES || variables.GATEWRIGHT_PRICES })
  const secrets = new KnownSecrets(store.list().flatMap(secretsOfObject))
  const inFiles = store.problems()
  // A price file among the objects has been checked with them.
  const ofPrices = prices?.problems.filter(
    ({ file }) => !inFiles.some((other) => resolve(other.file) === resolve(file)),
  )
  const found = [...inFiles, ...(ofPrices ?? []), ...placeFindings(store, [...findings, ...deployment, ...advice])]
  const shown = found.map((problem) => ({ ...problem, message: secrets.hide(problem.message) }))
  const problems = problemLines(shown, { advice: verbose })
  const { errors, warnings } = problems
  for (const line of report(format, { ...problems, objects: store.list().length, ...(fixed && { fixed }) }))
    printStyled(line)
  const failures = { errors, warnings: errors + warnings, never: 0 }[failOn]
  return failures === 0 ? EXIT.ok : EXIT.findings
}

/** Undefined: not asked for. */
function fix(paths: readonly string[], flags: LintFlags, format: Format): FixedFiles | undefined {
  const { file = [], dryRun = false } = flags
  if (flags.fix !== true) {
    if (dryRun) throw new UsageError('--dry-run needs --fix')
    return undefined
  }
  if (flags.server !== undefined || flags.kubeconfig !== undefined)
    throw new UsageError('--fix corrects files, so it cannot be combined with --server or --kubeconfig')
  if (format !== 'text' && format !== 'json') throw new UsageError(`--fix cannot be combined with --output ${format}`)
  return fixFiles([...paths, ...file], { dryRun })
}
