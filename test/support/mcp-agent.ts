import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

export const REDIRECT = 'http://127.0.0.1:9/callback'

/** A client that follows the redirect itself, as a browser whose user agrees would. */
export class Agent implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT
  readonly clientMetadata = { redirect_uris: [REDIRECT], client_name: 'agent', token_endpoint_auth_method: 'none' }
  readonly visited: URL[] = []
  readonly #visit: (url: URL) => Promise<URLSearchParams>
  #client: ReturnType<OAuthClientProvider['clientInformation']>
  #tokens: ReturnType<OAuthClientProvider['tokens']>
  #verifier = ''

  /** @param visit opens an address as a browser does, and returns the query of the redirect to `REDIRECT` */
  constructor(visit: (url: URL) => Promise<URLSearchParams> = followRedirect) {
    this.#visit = visit
  }

  clientInformation() {
    return this.#client
  }
  saveClientInformation(client: NonNullable<Awaited<ReturnType<OAuthClientProvider['clientInformation']>>>) {
    this.#client = client
  }
  tokens() {
    return this.#tokens
  }
  saveTokens(tokens: NonNullable<Awaited<ReturnType<OAuthClientProvider['tokens']>>>) {
    this.#tokens = tokens
  }
  redirectToAuthorization(url: URL) {
    this.visited.push(url)
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier
  }
  codeVerifier() {
    return this.#verifier
  }
  /** Visits the last address. @returns the query of the redirect */
  approve(): Promise<URLSearchParams> {
    return this.#visit(this.visited.at(-1)!)
  }
}

async function followRedirect(url: URL): Promise<URLSearchParams> {
  const response = await fetch(url, { redirect: 'manual' })
  return new URL(response.headers.get('location') ?? '').searchParams
}

/** Signs in as a client of MCP does, from nothing but the address. @returns the names of the tools */
export async function toolsAfterSignIn(url: URL, agent: Agent): Promise<readonly string[]> {
  const first = new StreamableHTTPClientTransport(url, { authProvider: agent })
  const refused = new Client({ name: 'agent', version: '1' })
  const failure = await refused.connect(first).then(
    () => undefined,
    (error: unknown) => error,
  )
  if (failure === undefined) throw new Error(`${url.href} needs no sign-in`)
  if (agent.visited.length === 0) throw failure
  await first.finishAuth(await agent.approve())
  const client = new Client({ name: 'agent', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: agent }))
  const { tools } = await client.listTools()
  await client.close()
  return tools.map((tool) => tool.name)
}
