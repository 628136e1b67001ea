import { onTestFinished } from 'vitest'
import { startTestServer } from '#apiserver/testing.ts'
import { ApiClient } from '#cluster/api-client.ts'

/** An API server with the kinds of the platform and of the gateway, and a client of it. */
export async function connectToTestServer() {
  const server = await startTestServer()
  onTestFinished(() => server.close())
  const headers = { authorization: 'Bearer test-token' }
  const client = new ApiClient({ server: new URL(server.url), tls: { ca: server.ca }, headers })
  onTestFinished(() => client[Symbol.dispose]())
  return { server, client }
}
