import type { RequestMessage } from '../message/json-rpc.ts'
import type { McpRequest, SessionTarget } from '../request/mcp-request.ts'
import type { Session } from '../session/session-state.ts'
import { replaceProgressToken, sealReference } from './client-reference.ts'

/**
 * The JSON-RPC text of a request of the client for a target. With several targets the progress token is sealed for this one: another target
 * could guess the token of the client, and report progress of a call that it does not run.
 *
 * @param params for the target
 */
export function requestText(
  { plan, deps }: McpRequest,
  session: Pick<Session, 'key'>,
  { plan: { name: target } }: SessionTarget,
  { json, text, params: original = {} }: RequestMessage,
  params = original,
): string {
  const sent = plan.multiplexes
    ? replaceProgressToken(params, (token) =>
        sealReference(deps, session, 'client-progress', { target, original: token }),
      )
    : params
  return sent === original ? text : JSON.stringify({ ...json, params: sent })
}
