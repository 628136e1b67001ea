import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { parseJson } from '#base/parse-json.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import { itemsOf, type KubeContext, type Members, membersOf, textOf } from './kubeconfig.ts'

/** What a credential plugin returns; members that it does not set are undefined. */
export interface ExecCredential {
  readonly token: string | undefined
  /** PEM texts. */
  readonly certificate: string | undefined
  readonly key: string | undefined
}

const VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']

/**
 * Runs the credential plugin of a user, as `kubectl` does (Kubernetes, "client-go credential plugins"). Its standard error is that of this process.
 * @throws ApiUnreadable
 */
export async function runCredentialPlugin({ cluster, user, folder }: KubeContext): Promise<ExecCredential> {
  const exec = membersOf(user.exec)
  const version = textOf(exec.apiVersion) ?? ''
  const command = textOf(exec.command)
  if (command === undefined) throw new ApiUnreadable('the exec plugin of the kubeconfig has no command')
  if (!VERSIONS.includes(version))
    throw new ApiUnreadable(
      `the exec plugin ${command} has apiVersion "${version}"; supported are ${VERSIONS.join(', ')}`,
    )
  const interactive = exec.interactiveMode !== 'Never' && process.stdin.isTTY === true
  if (exec.interactiveMode === 'Always' && !interactive)
    throw new ApiUnreadable(`the exec plugin ${command} needs a terminal`)
  const spec = { interactive, ...(exec.provideClusterInfo === true && { cluster: describeCluster(cluster) }) }
  const variables = itemsOf(exec.env).map((entry) => [membersOf(entry).name, membersOf(entry).value])
  const output = await run(
    { command: /[/\\]/.test(command) ? resolve(folder, command) : command, hint: textOf(exec.installHint) },
    itemsOf(exec.args).map(String),
    {
      interactive,
      environment: {
        ...Object.fromEntries(variables),
        KUBERNETES_EXEC_INFO: JSON.stringify({ apiVersion: version, kind: 'ExecCredential', spec }),
      },
    },
  )
  return readCredential(command, version, output)
}

function describeCluster(cluster: Members): object {
  return {
    server: cluster.server,
    'tls-server-name': cluster['tls-server-name'],
    'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'],
    'certificate-authority-data': cluster['certificate-authority-data'],
    config: itemsOf(cluster.extensions)
      .map(membersOf)
      .find(({ name }) => name === 'client.authentication.k8s.io/exec')?.extension,
  }
}

interface Plugin {
  readonly command: string
  readonly hint: string | undefined
}

interface RunOptions {
  readonly interactive: boolean
  readonly environment: Readonly<Record<string, string>>
}

function run({ command, hint }: Plugin, words: readonly string[], options: RunOptions): Promise<string> {
  const { promise, resolve: end, reject } = Promise.withResolvers<string>()
  const child = spawn(command, words, {
    stdio: [options.interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...options.environment },
  })
  const fail = (why: string) => reject(new ApiUnreadable(`the exec plugin ${command} of the kubeconfig ${why}`))
  const pieces: Buffer[] = []
  child.stdout!.on('data', (piece: Buffer) => pieces.push(piece))
  child.once('error', (error) => fail(`cannot be run: ${error.message}${hint === undefined ? '' : `; ${hint.trim()}`}`))
  child.once('close', (code, signal) => {
    if (code === 0) end(Buffer.concat(pieces).toString())
    else fail(`ended with ${code === null ? signal : `code ${code}`}`)
  })
  return promise
}

/** The output is a credential, so no message quotes it. */
function readCredential(command: string, version: string, output: string): ExecCredential {
  const { apiVersion, kind, status } = membersOf(parseOutput(output))
  if (kind !== 'ExecCredential' || apiVersion !== version)
    throw new ApiUnreadable(`the exec plugin ${command} did not return an ExecCredential of ${version}`)
  const members = membersOf(status)
  const credential = {
    token: textOf(members.token),
    certificate: textOf(members.clientCertificateData),
    key: textOf(members.clientKeyData),
  }
  if (credential.token !== undefined || (credential.certificate !== undefined && credential.key !== undefined))
    return credential
  throw new ApiUnreadable(`the exec plugin ${command} returned neither a token nor a certificate with its key`)
}

function parseOutput(output: string): unknown {
  try {
    return parseJson(output)
  } catch {
    return undefined
  }
}
