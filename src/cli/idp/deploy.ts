import { randomBytes } from 'node:crypto'
import { clock, pause } from '#base/clock.ts'
import { hostPort } from '#base/host-port.ts'
import type { ApiClient } from '#cluster/api-client.ts'
import { ApiUnreadable } from '#cluster/api-unreadable.ts'
import { membersOf, textOf } from '#cluster/kubeconfig.ts'
import { deploymentPath, LABEL, manifest, namespacePath, PORT, secretPath, servicePath } from '#idp/deploy/manifest.ts'
import { loadBalancerAddress, rolloutState } from '#idp/deploy/rollout.ts'
import { PROGRAM } from '#instance/project-file.ts'
import { type ClusterFlags, clusterClient } from '../cluster-client.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { complain, print } from '../output.ts'
import { UsageError } from '../usage-error.ts'

export interface ProviderFlags extends ClusterFlags {
  readonly namespace: string
  readonly timeout: string
}

export interface DeployFlags extends ProviderFlags {
  readonly image: string
}

const ASK_EVERY_MS = 500

/** Steps 1 and 2: brings an identity provider to a cluster, and waits until it has an address (document 1, 5.8). */
export async function deployProvider(flags: DeployFlags, environment: NodeJS.ProcessEnv): Promise<ExitCode> {
  const { namespace, image } = checked(flags)
  using client = await clusterClient(flags, environment)
  const patience = new Patience(flags.timeout)
  await checkOurs(client, namespace)
  const known = await passwordIn(client, namespace)
  const adminPassword = known ?? randomBytes(18).toString('base64url')
  for (const { path, object } of manifest({ namespace, image, adminPassword })) await client.apply(path, object)
  print(` 1  deploy the provider           applied to the namespace ${namespace}`)
  const rolledOut = await patience.until(async () => {
    const state = rolloutState((await client.get(deploymentPath(namespace))).body)
    if (state.state === 'failed') throw new ApiUnreadable(`the rollout failed: ${state.why}`)
    return state.state === 'complete' ? true : state.why
  })
  if (rolledOut !== true) return late('the rollout', rolledOut, `kubectl describe pods -n ${namespace}`)
  print(' 1  deploy the provider           the rollout is complete')
  const address = await patience.until(async () => {
    const found = loadBalancerAddress((await client.get(servicePath(namespace))).body)
    return found === undefined ? 'the Service has no address yet' : { found }
  })
  if (typeof address === 'string') return late('the address', address, 'in a local cluster, start its load balancer')
  const url = `http://${hostPort(address.found, PORT)}`
  print(` 2  address of the provider       ${url}`)
  const read = `kubectl get secret identity-provider -n ${namespace} -o jsonpath='{.data.password}' | base64 -d`
  const password = known === undefined ? `password ${adminPassword}` : `with the password that this prints: ${read}`
  const next = `Next: ${PROGRAM} idp setup --url ${url} --admin-password ${known === undefined ? adminPassword : '<password>'}`
  for (const line of ['', `admin  admin, ${password}`, '', next]) print(line)
  return EXIT.ok
}

/** Step 12: deletes the Namespace of a provider that `deploy` created, and waits until it is gone. */
export async function deleteProvider(flags: ProviderFlags, environment: NodeJS.ProcessEnv): Promise<ExitCode> {
  const { namespace } = checked(flags)
  using client = await clusterClient(flags, environment)
  const patience = new Patience(flags.timeout)
  if (!(await checkOurs(client, namespace))) {
    print(`12  delete the provider           unchanged: there is no namespace ${namespace}`)
    return EXIT.ok
  }
  await client.delete(namespacePath(namespace))
  const gone = await patience.until(async () => {
    return (await client.get(namespacePath(namespace))).status === 404 ? true : 'the namespace still has objects'
  })
  if (gone !== true) return late('the deletion', gone, `kubectl get all -n ${namespace}`)
  print(`12  delete the provider           done: the namespace ${namespace} is gone`)
  return EXIT.ok
}

/**
 * A Namespace of somebody else is neither changed nor deleted (decision A-130).
 * @returns whether there is one
 * @throws ApiUnreadable
 */
async function checkOurs(client: ApiClient, namespace: string): Promise<boolean> {
  const { status, body } = await client.get(namespacePath(namespace))
  if (status === 404) return false
  const labels = membersOf(membersOf(body.metadata).labels)
  if (labels[LABEL] === 'true') return true
  throw new ApiUnreadable(`the namespace ${namespace} has no label ${LABEL}=true, so it is not ours: use another one`)
}

/** The password of an earlier deployment: a new one would not be known to the provider that runs. */
async function passwordIn(client: ApiClient, namespace: string): Promise<string | undefined> {
  const { status, body } = await client.get(secretPath(namespace))
  const encoded = status === 200 ? textOf(membersOf(body.data).password) : undefined
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString()
}

/** Asks again and again until a time is over. */
class Patience {
  readonly #endMs: number

  constructor(timeout: string) {
    if (!/^\d{1,5}$/.test(timeout)) throw new UsageError(`--timeout is a number of seconds, not ${timeout}`)
    this.#endMs = clock.monotonic() + Number(timeout) * 1000
  }

  /** @returns what `ask` returns when it is no text; the last text when the time is over */
  async until<T>(ask: () => Promise<T | string>): Promise<T | string> {
    for (;;) {
      const answer = await ask()
      if (typeof answer !== 'string' || clock.monotonic() > this.#endMs) return answer
      await pause(ASK_EVERY_MS)
    }
  }
}

function late(what: string, why: string, advice: string): ExitCode {
  complain(`${what} takes longer than --timeout: ${why}`, `  ${advice}`)
  return EXIT.findings
}

function checked<T extends ProviderFlags>(flags: T): T {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(flags.namespace)) return flags
  throw new UsageError(`--namespace ${flags.namespace} is not a name of a namespace`)
}
