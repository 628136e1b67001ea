import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/** Cost of scrypt: 16 MiB and some 30 ms for each password. Tests lower it. */
export const passwordCost = { n: 2 ** 14 }
const KEY_BYTES = 32

/** `scrypt:<salt>:<hash>`, both in base64url (RFC 7914). */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  return `scrypt:${salt.toString('base64url')}:${(await derive(password, salt)).toString('base64url')}`
}

/** @param hash of `hashPassword`; undefined: the time is spent all the same, so that nobody learns which users exist */
export async function isPassword(password: string, hash: string | undefined): Promise<boolean> {
  const [, salt = '', wanted = ''] = (hash ?? NOBODY).split(':')
  const derived = await derive(password, Buffer.from(salt, 'base64url'))
  return timingSafeEqual(derived, Buffer.from(wanted, 'base64url')) && hash !== undefined
}

const NOBODY = `scrypt:${Buffer.alloc(16).toString('base64url')}:${Buffer.alloc(KEY_BYTES).toString('base64url')}`

function derive(password: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, { N: passwordCost.n }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    )
  })
}
