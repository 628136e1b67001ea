import { count } from '#base/count.ts'
import { bearerChallenge } from './challenge.ts'
import { INITIALIZE, MCP_HEADERS } from './discover.ts'
import { claimsOf } from './examine-token.ts'
import type { Report } from './report.ts'
import { answerIn, ask, explanationIn, isObject, NoReply, type Reply } from './web.ts'

/** Lists tools in both forms of the protocol: one must work. @param token undefined: none is needed */
export async function listTools(report: Report, url: URL, token: string | undefined): Promise<void> {
  const asker = { url, token, headers: { ...MCP_HEADERS, ...(token && { authorization: `Bearer ${token}` }) } }
  const found = { session: await listInSession(asker), stateless: await listWithoutSession(asker) }
  const works = Object.values(found).some((each) => !(each instanceof Failure))
  for (const step of ['session', 'stateless'] as const) {
    const each = found[step]
    if (!(each instanceof Failure)) report.ok(step, each)
    else if (works || (step === 'stateless' && each.mayBeAbsent)) report.skip(step, `not offered: ${each.why}`)
    else report.fail(step, each.why, each.change)
  }
}

interface Asker {
  readonly url: URL
  readonly token: string | undefined
  readonly headers: Readonly<Record<string, string>>
}

class Failure {
  readonly why: string
  readonly change: string
  /** A server that does not know the revision answers like this. */
  readonly mayBeAbsent: boolean

  constructor(why: string, change: string, mayBeAbsent = false) {
    this.why = why
    this.change = change
    this.mayBeAbsent = mayBeAbsent
  }
}

type Result = Readonly<Record<string, unknown>>

/** Revisions up to 2025-11-25. @returns what works */
async function listInSession(asker: Asker): Promise<string | Failure> {
  const opened = await post(asker, INITIALIZE)
  const result = resultOf(asker, 'initialize', opened)
  if (result instanceof Failure) return result
  const id = (opened as Reply).headers.get('mcp-session-id')
  const version = typeof result.protocolVersion === 'string' ? result.protocolVersion : '2025-11-25'
  const inSession = { 'mcp-protocol-version': version, ...(id !== null && { 'mcp-session-id': id }) }
  await post(asker, { jsonrpc: '2.0', method: 'notifications/initialized' }, inSession)
  const listed = await post(asker, { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} }, inSession)
  if (id !== null) await ask(asker.url, { method: 'DELETE', headers: { ...asker.headers, ...inSession } })
  return describeTools(version, resultOf(asker, 'tools/list', listed))
}

const STATELESS = '2026-07-28'

/** Revision 2026-07-28. */
async function listWithoutSession(asker: Asker): Promise<string | Failure> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': STATELESS,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': INITIALIZE.params.clientInfo,
  }
  const message = { jsonrpc: '2.0', id: 3, method: 'tools/list', params: { _meta: meta } }
  const headers = { 'mcp-protocol-version': STATELESS, 'mcp-method': 'tools/list' }
  return describeTools(STATELESS, resultOf(asker, 'tools/list', await post(asker, message, headers)))
}

function post(
  { url, headers }: Asker,
  message: object,
  more: Readonly<Record<string, string>> = {},
): Promise<Reply | NoReply> {
  return ask(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(message) })
}

function describeTools(version: string, result: Result | Failure): string | Failure {
  if (result instanceof Failure) return result
  const { tools } = result
  return `${version}, ${count(Array.isArray(tools) ? tools.length : 0, 'tool')}`
}

function resultOf({ token }: Asker, method: string, reply: Reply | NoReply): Result | Failure {
  if (reply instanceof NoReply) return new Failure(`${method}: ${reply.why}`, reply.change)
  const { status, headers, json, text } = reply
  const message = isObject(json) ? json : answerIn(text)
  if (status === 200 && isObject(message) && isObject(message.result)) return message.result
  const why = `${method}: ${status}${explanationIn({ ...reply, json: message })}`
  if (status === 401) return new Failure(why, changeOfRefusal(token))
  if (status === 403) {
    const scope = bearerChallenge(headers.get('www-authenticate'))?.get('scope')
    return new Failure(why, scope === undefined ? RULES_CHANGE : `The token needs more scopes: use --scope '${scope}'.`)
  }
  return new Failure(why, OTHER_CHANGE, status === 200 || status === 400 || status === 404)
}

const RULES_CHANGE =
  'Rules of authorization refuse it, whatever the scopes of the token: see the decision record of the gateway.'
const OTHER_CHANGE = 'The sign-in works. See the log of the gateway, and of the MCP servers behind it.'

/** The gateway does not tell clients why it refuses a token, but the token itself says what it is compared with. */
function changeOfRefusal(token: string | undefined): string {
  const claims = token === undefined ? undefined : claimsOf(token)
  if (claims === undefined) return 'The server accepts no such token: the gateway verifies JSON Web Tokens.'
  const { iss, aud } = claims
  return `Compare the issuer of the token (${JSON.stringify(iss)}) and its audience (${JSON.stringify(aud)}) with issuer and audiences in jwtAuthentication, and the key set with that of the issuer. The decision record of the gateway says which of them it is.`
}
