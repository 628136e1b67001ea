import { Client, credentials, type Metadata, Metadata as MetadataOf, type ServiceError } from '@grpc/grpc-js'
import { DELTA_PATH, type DiscoveryResponse, decodeResponse, encodeRequest } from '#deliver/discovery-messages.ts'
import { ENDPOINTS_TYPE, ITEM_TYPE, SNAPSHOT } from '#deliver/plan-resource.ts'

/**
 * Asks a controller for plans with another implementation of gRPC, where addresses of the cluster work, and prints an `Answer` for each question.
 *
 *     node ask-plan.ts '[{"address":"HOST:PORT","authority":"PEM","token":"..."}]'
 */

export interface Question {
  readonly address: string
  /** Certificate of the authority, PEM; undefined: without TLS. */
  readonly authority?: string | undefined
  readonly token?: string
  /** Names of resources; whatever they are, a proxy gets all of its own. */
  readonly names?: readonly string[]
}

export interface Answer {
  /** Names of the resources, without the snapshots. */
  readonly names: readonly string[]
  /** Why the stream ended; undefined: it did not. */
  readonly refusal?: string
}

const LIMIT_MS = 30_000
async function ask({ address, authority, token, names }: Question): Promise<Answer> {
  const channel = authority === undefined ? credentials.createInsecure() : credentials.createSsl(Buffer.from(authority))
  const client = new Client(address, channel)
  const metadata: Metadata = new MetadataOf()
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`)
  const call = client.makeBidiStreamRequest(
    DELTA_PATH,
    (request: Uint8Array) => Buffer.from(request),
    (bytes: Buffer) => messageOf(bytes),
    metadata,
    { deadline: Date.now() + LIMIT_MS },
  )
  const seen = new Set<string>()
  const wanted = new Set([ITEM_TYPE, ENDPOINTS_TYPE])
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  call.on('data', ({ typeUrl, nonce, resources = [] }: DiscoveryResponse) => {
    for (const { name = '' } of resources) {
      if (name === SNAPSHOT) wanted.delete(typeUrl as typeof ITEM_TYPE)
      else seen.add(name)
    }
    call.write(encodeRequest({ typeUrl, responseNonce: nonce }))
    if (wanted.size === 0) resolve(undefined)
  })
  call.on('error', ({ code, details }: ServiceError) => resolve(`${code}: ${details}`))
  call.on('end', () => resolve('the stream has ended'))
  for (const typeUrl of wanted) {
    call.write(encodeRequest({ typeUrl, node: { id: 'stranger' }, ...(names && { subscribe: [...names] }) }))
  }
  const refusal = await promise
  call.cancel()
  client.close()
  return { names: [...seen].toSorted(), ...(refusal !== undefined && { refusal }) }
}

function messageOf(bytes: Buffer): DiscoveryResponse {
  const decoded = decodeResponse(bytes)
  if ('fault' in decoded) throw new Error(decoded.fault)
  return decoded.message
}

const questions = JSON.parse(process.argv[2]!) as readonly Question[]
console.log(JSON.stringify(await Promise.all(questions.map(ask))))
