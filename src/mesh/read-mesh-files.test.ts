import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newAuthority } from '#net/testing/authority.ts'
import { MeshFailure } from './mesh-failure.ts'
import { readRoots, readToken } from './read-mesh-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'gatewright-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

const SOURCE = 'entry root-cert.pem of ConfigMap istio-ca-root-cert in namespace shop'
let root: string
let ended: string

beforeAll(async () => {
  root = (await newAuthority('Root')).pem.trim()
  ended = (await newAuthority('Ended', undefined, { fromMs: -2000, forMs: -1000 })).pem.trim()
})

/** @returns the path of a file with this text */
function fileWith(text: string): string {
  const file = join(folder, 'file')
  writeFileSync(file, text)
  return file
}

async function failure(read: Promise<string>): Promise<string> {
  const error = await read.then(() => undefined).catch((error: unknown) => error)
  if (error instanceof MeshFailure) return `${error.reason}: ${error.message.replaceAll(folder, '')}`
  throw error ?? new Error('no failure')
}

test('root certificates, without anything else in their file', async () => {
  expect(await readRoots(fileWith(`${root}\n`), 'shop')).toBe(`${root}\n`)
  expect(await readRoots(fileWith(`# two\n${ended}\nand\n${root}`), 'shop')).toBe(`${ended}\n${root}\n`)
})

test.each<[string, () => string, string | RegExp]>([
  ['missing', () => join(folder, 'none'), `roots: there are no root certificates in /none: ${SOURCE} is missing`],
  ['a folder', () => folder, 'roots: the root certificates in  cannot be read: EISDIR'],
  [
    'empty',
    () => fileWith(''),
    `roots: /file has no root certificates (${SOURCE}): it contains no complete certificate`,
  ],
  [
    'broken',
    () => fileWith('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'),
    `roots: /file has no root certificates (${SOURCE}): the certificate cannot be read`,
  ],
  ['cut', () => fileWith(root.slice(0, -5)), /it contains no complete certificate$/],
  [
    'of the past',
    () => fileWith(ended),
    /^roots: the root certificates in \/file \(entry .*\) have expired, the last one at 20.*Z$/,
  ],
])('root certificates that are %s', async (_, file, expected) => {
  const said = await failure(readRoots(file(), 'shop'))
  if (typeof expected === 'string') expect(said).toBe(expected)
  else expect(said).toMatch(expected)
})

test('the token', async () => {
  expect(await readToken(fileWith('a.b-c\n'))).toBe('a.b-c')
  for (const text of ['', ' \n', 'a b', 'a\nb', 'ä'])
    expect(await failure(readToken(fileWith(text)))).toBe('token: /file does not contain one token')
  expect(await failure(readToken(join(folder, 'none')))).toBe(
    'token: the token for the CA in /none cannot be read: ENOENT',
  )
})
