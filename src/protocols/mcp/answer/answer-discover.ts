import type { JsonObject } from '#base/json.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import { GATEWAY_INFO } from '../config/gateway-info.ts'
import { uniteCapabilities } from '../message/capabilities.ts'
import { isObject, type RequestMessage, resultText } from '../message/json-rpc.ts'
import { META } from '../message/meta.ts'
import { modernResult } from '../message/modern-result.ts'
import { REVISIONS } from '../message/protocol-version.ts'
import { withoutTasks } from '../modern/without-tasks.ts'
import { answerMessages } from '../request/mcp-answer.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import type { Participant } from '../session/participant.ts'
import { mergeInstructions } from './merge-instructions.ts'

/** Responds to `server/discover` with what the targets have in common with the gateway. */
export async function answerDiscover(
  { plan }: McpRequest,
  message: RequestMessage,
  participants: readonly Participant[],
): Promise<ServedAnswer> {
  const found = plan.targets.flatMap(({ name }) => {
    const participant = participants.find(({ session }) => session.target === name)
    return participant === undefined ? [] : [{ name, result: participant.result ?? {} }]
  })
  const result = plan.multiplexes ? mergeDiscoveries(found) : soleDiscovery(found[0]?.result ?? {})
  return answerMessages([
    resultText(message.id, modernResult(message.method, { ...result, supportedVersions: [...REVISIONS] })),
  ])
}

/** A target of the legacy era has the result of `initialize`: what is left of it has another place. */
function soleDiscovery({ protocolVersion, serverInfo, ...result }: JsonObject): JsonObject {
  if (protocolVersion === undefined) return result
  const meta = isObject(result._meta) ? result._meta : {}
  return {
    ...result,
    capabilities: isObject(result.capabilities) ? withoutTasks(result.capabilities) : {},
    _meta: { ...meta, ...(isObject(serverInfo) && { [META.serverInfo]: serverInfo }) },
  }
}

function mergeDiscoveries(found: readonly { readonly name: string; readonly result: JsonObject }[]): JsonObject {
  return {
    capabilities: uniteCapabilities(
      found.map(({ result: { protocolVersion, capabilities } }) =>
        protocolVersion !== undefined && isObject(capabilities) ? withoutTasks(capabilities) : capabilities,
      ),
    ),
    instructions: mergeInstructions(found),
    _meta: { [META.serverInfo]: GATEWAY_INFO },
  }
}
