import { A2A_VERSION_HEADER, AGENT_CARD_PATH, AgentCard, formatSSEEvent, SSE_HEADERS } from '@a2a-js/sdk'
import { A2A_LEGACY_PROTOCOL_VERSION } from '@a2a-js/sdk/compat/v0_3'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import {
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from '@a2a-js/sdk/server'
import { answerWith } from './answer-with.ts'
import { listen, type Upstream, type UpstreamOptions } from './listen.ts'
import { RepeatingAgent } from './repeating-agent.ts'
import { runAlone } from './run-alone.ts'

/** Where the card says that the agent is spoken to. Not the root, so that a rewritten card has a path to keep. */
const RPC_PATH = '/rpc'

/**
 * Starts an A2A agent made with the official SDK. Its card at `/.well-known/agent-card.json` names its own address and
 * the JSON-RPC endpoint `/rpc`. Callers that send `A2A-Version: 1.0` get the card and the methods of protocol 1.0
 * (`SendMessage`, `SendStreamingMessage`), others those of 0.3 (`message/send`, `message/stream`), as that header demands.
 */
export function startA2a({ port, name = 'agent' }: UpstreamOptions): Promise<Upstream> {
  return listen({ port, name }, (url) => {
    const card = describeAgent(name, `${url}${RPC_PATH}`)
    const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new RepeatingAgent(name))
    const current = new JsonRpcTransportHandler(handler)
    const legacy = new LegacyJsonRpcTransportHandler(handler)

    return answerWith((request) => {
      const version = request.headers.get(A2A_VERSION_HEADER) ?? A2A_LEGACY_PROTOCOL_VERSION
      const isLegacy = version === A2A_LEGACY_PROTOCOL_VERSION
      switch (`${request.method} ${new URL(request.url).pathname}`) {
        case `GET /${AGENT_CARD_PATH}`:
          return Response.json(isLegacy ? toLegacyCard(card, url) : AgentCard.toJSON(card), {
            headers: { vary: A2A_VERSION_HEADER },
          })
        case `POST ${RPC_PATH}`:
          return speak(isLegacy ? legacy : current, request, version)
        default:
          return new Response('not found\n', { status: 404 })
      }
    })
  })
}

async function speak(
  transport: JsonRpcTransportHandler | LegacyJsonRpcTransportHandler,
  request: Request,
  requestedVersion: string,
): Promise<Response> {
  const answer = await transport.handle(await request.text(), new ServerCallContext({ requestedVersion }))
  if (!(Symbol.asyncIterator in answer)) return Response.json(answer)
  const { Connection: _hopByHop, ...headers } = SSE_HEADERS
  return new Response(ReadableStream.from(toEvents(answer)), { headers })
}

async function* toEvents(answers: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const answer of answers) yield encoder.encode(formatSSEEvent(answer))
}

function describeAgent(name: string, url: string): AgentCard {
  return AgentCard.fromJSON({
    name,
    description: 'Repeats what it is told, word by word.',
    version: '1.0.0',
    supportedInterfaces: ['1.0', A2A_LEGACY_PROTOCOL_VERSION].map((protocolVersion) => ({
      url,
      protocolBinding: 'JSONRPC',
      protocolVersion,
    })),
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [
      {
        id: 'repeat',
        name: 'Repeat',
        description: 'Says what it heard',
        tags: ['example'],
        examples: ['good morning'],
      },
    ],
  })
}

/** The card in the form of protocol 0.3, whose place for the address is `url`. */
function toLegacyCard({ name, description, version, skills, ...card }: AgentCard, address: string): object {
  return {
    protocolVersion: '0.3.0',
    name,
    description,
    version,
    url: `${address}${RPC_PATH}`,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [{ url: `${address}${RPC_PATH}`, transport: 'JSONRPC' }],
    capabilities: { streaming: true },
    defaultInputModes: card.defaultInputModes,
    defaultOutputModes: card.defaultOutputModes,
    skills: skills.map(({ id, name, description, tags, examples }) => ({ id, name, description, tags, examples })),
  }
}

if (import.meta.main) await runAlone(startA2a, { port: 9131, name: 'agent' })
