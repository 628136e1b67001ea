/** Makes a key set and tokens with `jose`: reads an order from standard input, prints what it made. */
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, generateSecret, type JWK, SignJWT, UnsecuredJWT } from 'jose'
import type { Made, Order } from '../tokens.ts'

const order = JSON.parse(await text(process.stdin)) as Order
const privateKeys = new Map<string | null, CryptoKey | Uint8Array>()
const keys: JWK[] = []
for (const { kid, alg } of order.keys) {
  const [privateKey, published] = await generate(alg)
  privateKeys.set(kid, privateKey)
  keys.push({ ...(await exportJWK(published)), kid, alg, use: 'sig' })
}
const tokens: Record<string, string> = {}
for (const { name, key, alg, kid, claims } of order.tokens) {
  const header = { alg, ...(kid !== null && { kid }), typ: 'JWT' }
  const signer = privateKeys.get(key)
  tokens[name] =
    signer === undefined
      ? new UnsecuredJWT(claims).encode()
      : await new SignJWT(claims).setProtectedHeader(header).sign(signer)
}
const made: Made = { keySet: { keys: keys.map((key) => ({ ...key })) }, tokens }
console.log(JSON.stringify(made))

/** The key that signs, and the one that is published. */
async function generate(alg: string) {
  if (!alg.startsWith('HS')) {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
    return [privateKey, publicKey] as const
  }
  const secret = await generateSecret(alg, { extractable: true })
  return [secret, secret] as const
}
