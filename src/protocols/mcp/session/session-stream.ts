import { parseJson } from '#base/parse-json.ts'
import type { Channels } from '#state/channels.ts'
import type { Capability } from '../message/capabilities.ts'

/** What the stream of notifications of a session is told by other requests, of whatever worker. */
export type StreamNews =
  /** A JSON-RPC message for the client. */
  | { readonly kind: 'message'; readonly text: string }
  /** The session has ended. */
  | { readonly kind: 'end' }

/** @param receive gets the text of news, for `parseNews`. @returns closes the channel */
export function listenForNews(channels: Channels, sessionKey: string, receive: (text: string) => void): () => void {
  return channels.open(channelOf(sessionKey), receive)
}

export function parseNews(text: string): StreamNews {
  return parseJson(text) as unknown as StreamNews
}

export function announceEnd(channels: Channels, sessionKey: string): Promise<boolean> {
  return tell(channels, sessionKey, { kind: 'end' })
}

/** Tells the client that lists have changed. @param capabilities of the targets that were added or initialised again */
export async function announceChange(
  channels: Channels,
  sessionKey: string,
  capabilities: ReadonlySet<Capability>,
): Promise<void> {
  for (const text of listChanges(capabilities)) await tell(channels, sessionKey, { kind: 'message', text })
}

/** The backend has other targets: the lists have changed, and the stream begins again, with those of the new targets. */
export async function announceTargets(
  channels: Channels,
  sessionKey: string,
  capabilities: ReadonlySet<Capability>,
): Promise<void> {
  await announceChange(channels, sessionKey, capabilities)
  await announceEnd(channels, sessionKey)
}

/** The notifications that lists of these capabilities have changed. */
function listChanges(capabilities: ReadonlySet<Capability>): string[] {
  const lists = (['tools', 'prompts', 'resources'] as const).filter((capability) => capabilities.has(capability))
  return lists.map((list) => JSON.stringify({ jsonrpc: '2.0', method: `notifications/${list}/list_changed` }))
}

function tell(channels: Channels, sessionKey: string, news: StreamNews): Promise<boolean> {
  return channels.send(channelOf(sessionKey), JSON.stringify(news))
}

function channelOf(sessionKey: string): string {
  return `mcp-stream ${sessionKey}`
}
