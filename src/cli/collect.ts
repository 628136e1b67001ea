import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { LOOPBACK } from '#api/own-ports.ts'
import { KUBECONFIG } from '#apiserver/credentials/kubeconfig.ts'
import { count } from '#base/count.ts'
import type { ApiClient } from '#cluster/api-client.ts'
import { type Collected, collectCluster } from '#cluster/collect/collect-cluster.ts'
import { connect } from '#cluster/connect.ts'
import { examineCluster } from '#cluster/examine/examine-cluster.ts'
import { VERSION } from '#instance/version.ts'
import { type CheckFlags, examined } from './check.ts'
import { clusterClient } from './cluster-client.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { complain, print } from './output.ts'
import { askAdmin } from './reach/ask-admin.ts'
import { localGateway } from './reach/local-gateway.ts'
import { readRunningNote } from './running-note.ts'
import { STATE_FOLDER } from './state-path.ts'
import { tar } from './tar.ts'
import { UsageError } from './usage-error.ts'

export interface CollectFlags extends Omit<CheckFlags, 'output'> {
  readonly server?: string
  readonly state?: string
  readonly logLines: string
  readonly out?: string
}

/** The folder in the archive. */
const FOLDER = 'gatewright-support'
const METRICS_TIMEOUT_MS = 10_000

/** A text for the archive, or why there is none. */
type Extra = readonly [file: string, text: Promise<{ readonly text: string } | { readonly why: string }>]

/** Writes an archive for support: what a cluster or the gateway that runs here tells, without secrets. */
export async function collect(flags: CollectFlags): Promise<ExitCode> {
  const { kubeconfig, context, server, state, controllerNamespace, namespace = [] } = flags
  const isCluster = kubeconfig !== undefined || context !== undefined
  if (isCluster && (server !== undefined || state !== undefined))
    throw new UsageError('--server and --state cannot be combined with --kubeconfig and --context')
  if (!/^[1-9]\d{0,6}$/.test(flags.logLines)) throw new UsageError(`--log-lines is a number, not ${flags.logLines}`)
  const localKubeconfig = join(state ?? STATE_FOLDER, KUBECONFIG)
  using client = isCluster
    ? await clusterClient(flags, process.env)
    : await connect({ server, kubeconfig: undefined, context: undefined, localKubeconfig })
  const extras = isCluster ? [checksOf(client, flags)] : ofGateway(state ?? STATE_FOLDER)
  const collected = await collectCluster(client, {
    controllerNamespace,
    namespaces: namespace,
    logLines: Number(flags.logLines),
  })
  return writeArchive(flags.out, client.server, collected, extras)
}

function checksOf(client: ApiClient, flags: CheckFlags): Extra {
  const text = examineCluster(client, examined(flags)).then((checks) => ({
    text: JSON.stringify(checks, undefined, 2),
  }))
  return ['check.json', text]
}

/** What the gateway that runs here tells, which redacts it. */
function ofGateway(state: string): readonly Extra[] {
  const note = readRunningNote(state)
  if (note === undefined) return []
  const gateway = localGateway(note.admin)
  const ask = async (path: string) => {
    let why = ''
    const answer = await askAdmin(await gateway.server(), path, { tell: (failure) => (why = failure) })
    return 'exitCode' in answer ? { why } : answer
  }
  return [
    ['gateway.json', Promise.resolve({ text: JSON.stringify(note, undefined, 2) })],
    ['status.json', ask('/status')],
    ['plan.json', ask('/config_dump')],
    ['metrics.txt', readMetrics(note.metricsPort)],
  ]
}

async function readMetrics(port: number): Promise<{ readonly text: string } | { readonly why: string }> {
  const server = `http://${LOOPBACK}:${port}`
  try {
    const response = await fetch(`${server}/metrics`, { signal: AbortSignal.timeout(METRICS_TIMEOUT_MS) })
    return response.ok ? { text: await response.text() } : { why: `${server} responded with status ${response.status}` }
  } catch {
    return { why: `no server responds at ${server}` }
  }
}

async function writeArchive(
  out: string | undefined,
  server: string,
  { files, missing, hide }: Collected,
  extras: readonly Extra[],
): Promise<ExitCode> {
  const collectedAt = new Date()
  const texts = await Promise.all(extras.map(async ([path, text]) => ({ path, ...(await text) })))
  const read = texts.flatMap((each) => ('text' in each ? [{ path: each.path, text: hide(each.text) }] : []))
  const lacking = [...missing, ...texts.flatMap((each) => ('why' in each ? [hide(`${each.path}: ${each.why}`)] : []))]
  const summary = {
    version: VERSION,
    collectedAt: collectedAt.toISOString(),
    server,
    missing: lacking,
  }
  const all = [...files, ...read, { path: 'collected.json', text: JSON.stringify(summary, undefined, 2) }]
  const entries = all.map(({ path, text }) => ({ path: `${FOLDER}/${path}`, bytes: Buffer.from(text) }))
  const file = out ?? `gatewright-support-${collectedAt.toISOString().replace(/[-:]|\.\d+/g, '')}.tar.gz`
  try {
    writeFileSync(file, gzipSync(tar(entries)), { mode: 0o600 })
  } catch (error) {
    complain(`${file} cannot be written: ${(error as Error).message}`)
    return EXIT.findings
  }
  print(`${file}: ${count(entries.length, 'file')} without secrets; look at them before you pass them on`)
  if (lacking.length > 0)
    complain(`${count(lacking.length, 'thing')} could not be read:`, ...lacking.map((line) => `  ${line}`))
  return EXIT.ok
}
