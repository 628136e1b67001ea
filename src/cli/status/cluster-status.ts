import type { StatusReport } from '#admin/status-report.ts'
import { parseJson } from '#base/parse-json.ts'
import type { ApiClient } from '#cluster/api-client.ts'
import {
  type ClusterGateway,
  type GatewayPod,
  nameOf,
  podsOfGateway,
  readGateway,
  readGateways,
} from '#cluster/gateway-pods.ts'
import { controllerNames } from '../controller-names.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { print, printJson, printStyled } from '../output.ts'
import { askAdmin } from '../reach/ask-admin.ts'
import { chosenPods, podServer } from '../reach/cluster-gateway.ts'
import { type ReachFlags, reachCluster } from '../reach/reach.ts'
import { UsageError } from '../usage-error.ts'
import { type GatewayState, gatewayLines, newestVersion, type PodState, whyBehind } from './gateway-lines.ts'
import { statusLines } from './status-lines.ts'

/**
 * Shows a Gateway of a cluster with what each of its pods says, or all Gateways in short.
 * @returns success if all are programmed, and all pods are ready with the newest configuration
 * @throws UsageError, ApiUnreadable
 */
export async function clusterStatus(name: string | undefined, flags: ReachFlags, isJson: boolean): Promise<ExitCode> {
  if (name === undefined && flags.pod !== undefined)
    throw new UsageError(`--pod ${flags.pod} needs the name of its Gateway`)
  const { client, namespace } = await reachCluster(flags)
  using _ = client
  if (name === undefined) {
    const found = await readGateways(client, controllerNames(process.env).controller, flags.namespace)
    const states: GatewayState[] = []
    for (const { gateway, pods } of found) states.push(await stateOf(client, gateway, pods))
    if (isJson) printJson(states)
    else if (states.length === 0) print('No Gateways.')
    else for (const line of states.flatMap(gatewayLines)) printStyled(line)
    return codeOf(states)
  }
  const named = { namespace: namespace ?? 'default', name }
  const gateway = await readGateway(client, named)
  const pods = chosenPods(await podsOfGateway(client, named), named, flags.pod)
  const state = await stateOf(client, gateway, pods)
  if (isJson) printJson(state)
  else {
    for (const line of gatewayLines(state)) printStyled(line)
    for (const { pod, report } of state.pods) {
      if (report === undefined) continue
      print('')
      printStyled([{ text: `pod ${pod}`, style: 'bold' }])
      for (const line of statusLines(report)) printStyled(line)
    }
  }
  return codeOf([state])
}

async function stateOf(client: ApiClient, gateway: ClusterGateway, pods: readonly GatewayPod[]): Promise<GatewayState> {
  const asked = await Promise.all(pods.map((pod) => askPod(client, pod)))
  const version = newestVersion(asked)
  return {
    gateway: nameOf(gateway),
    programmed: gateway.isProgrammed,
    message: gateway.message,
    ...(version !== undefined && { version }),
    pods: asked.map((pod) => {
      const behind = whyBehind(pod, version)
      return behind === undefined ? pod : { ...pod, behind }
    }),
  }
}

async function askPod(client: ApiClient, pod: GatewayPod): Promise<PodState> {
  const { name, notReady, isEnding, isRunning } = pod
  const state = { pod: name, isEnding, ...(notReady !== undefined && { notReady }) }
  if (!isRunning) return state
  let failure = ''
  const answer = await askAdmin(podServer(client, pod), '/status', {
    tell: (text) => {
      failure = text
    },
  })
  return 'exitCode' in answer ? { ...state, failure } : { ...state, report: parseJson(answer.text) as StatusReport }
}

function codeOf(states: readonly GatewayState[]): ExitCode {
  const isWell = ({ notReady, failure, behind, isEnding }: PodState) =>
    isEnding || [notReady, failure, behind].every((text) => text === undefined)
  return states.every(({ programmed, pods }) => programmed && pods.every(isWell)) ? EXIT.ok : EXIT.findings
}
