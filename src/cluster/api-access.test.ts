import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { answerJson, startJsonServer } from '#test/support/json-server.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { openAccess } from './api-access.ts'
import { ApiClient } from './api-client.ts'
import { connect } from './connect.ts'
import { readKubeconfig } from './kubeconfig.ts'

const CLUSTER = { server: 'https://kube.example:6443' }
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Writes a kubeconfig with one context. */
function kubeconfigOf(user: object, cluster: object = CLUSTER, folder = temporaryFolder()): string {
  const file = join(folder, 'config')
  const config = {
    clusters: [{ name: 'one', cluster }],
    users: [{ name: 'me', user }],
    contexts: [
      { name: 'work', context: { cluster: 'one', user: 'me' } },
      { name: 'nobody', context: { cluster: 'one' } },
      { name: 'broken', context: { cluster: 'two', user: 'me' } },
    ],
    'current-context': 'work',
  }
  writeFileSync(file, stringify(config))
  return file
}

/** A credential plugin. @param text of its standard output */
function plugin(folder: string, text: string, code = 0): string {
  const file = join(folder, 'plugin.sh')
  writeFileSync(
    file,
    `#!/bin/sh\nprintf '%s' "$KUBERNETES_EXEC_INFO" > "${folder}/info"\nprintf '%s' '${text}'\nexit ${code}\n`,
  )
  chmodSync(file, 0o700)
  return './plugin.sh'
}

const V1 = 'client.authentication.k8s.io/v1'
const credential = (status: object) => JSON.stringify({ apiVersion: V1, kind: 'ExecCredential', status })

test.each([
  ['a token', { token: 'abc' }, { authorization: 'Bearer abc' }],
  ['a name and a password', { username: 'me', password: 'pw' }, { authorization: `Basic ${base64('me:pw')}` }],
  ['nothing', {}, {}],
  [
    'impersonation',
    { token: 'abc', as: 'jane', 'as-groups': ['a', 'b'], 'as-user-extra': { 'Example.com/x': ['1'] } },
    {
      authorization: 'Bearer abc',
      'impersonate-user': 'jane',
      'impersonate-group': ['a', 'b'],
      'impersonate-extra-example.com%2fx': ['1'],
    },
  ],
])('a user with %s', async (_, user, headers) => {
  const access = await openAccess(readKubeconfig(kubeconfigOf(user)))
  const { server, tls } = access
  expect({ server: server.href, tls, headers: access.headers }).toEqual({
    server: 'https://kube.example:6443/',
    tls: {},
    headers,
  })
})

test('files are relative to the kubeconfig', async () => {
  const folder = temporaryFolder()
  for (const name of ['ca', 'cert', 'key', 'token']) writeFileSync(join(folder, name), `${name}\n`)
  const user = { tokenFile: 'token', token: 'ignored', 'client-certificate': 'cert', 'client-key': 'key' }
  const cluster = { ...CLUSTER, 'certificate-authority': 'ca', 'tls-server-name': 'kube' }
  const { tls, headers, token } = await openAccess(readKubeconfig(kubeconfigOf(user, cluster, folder)))
  expect(tls).toEqual({ ca: 'ca\n', cert: 'cert\n', key: 'key\n', servername: 'kube' })
  expect([headers, token?.get()]).toEqual([{}, 'token'])
})

test('data takes precedence over files', async () => {
  const user = {
    'client-certificate-data': base64('cert'),
    'client-certificate': 'x',
    'client-key-data': base64('key'),
  }
  const cluster = { ...CLUSTER, 'certificate-authority-data': base64('ca'), 'insecure-skip-tls-verify': true }
  const { tls } = await openAccess(readKubeconfig(kubeconfigOf(user, cluster)))
  expect(tls).toEqual({ ca: 'ca', cert: 'cert', key: 'key', rejectUnauthorized: false })
})

test('a credential plugin gets what it needs to know, and returns a token', async () => {
  const folder = temporaryFolder()
  const command = plugin(folder, credential({ token: 'from-plugin' }))
  const exec = { apiVersion: V1, command, args: ['a'], interactiveMode: 'Never', provideClusterInfo: true }
  const described = {
    'tls-server-name': 'a.test',
    'insecure-skip-tls-verify': false,
    'certificate-authority-data': base64('ca'),
  }
  const extensions = [
    { name: 'other', extension: 1 },
    { name: 'client.authentication.k8s.io/exec', extension: { audience: 'x' } },
  ]
  const file = kubeconfigOf({ exec }, { ...CLUSTER, ...described, extensions }, folder)
  const { headers } = await openAccess(readKubeconfig(file))
  expect(headers).toEqual({ authorization: 'Bearer from-plugin' })
  const { readFileSync } = await import('node:fs')
  expect(JSON.parse(readFileSync(join(folder, 'info'), 'utf8'))).toEqual({
    apiVersion: V1,
    kind: 'ExecCredential',
    spec: { interactive: false, cluster: { server: CLUSTER.server, ...described, config: { audience: 'x' } } },
  })
})

test('a credential plugin returns a certificate', async () => {
  const folder = temporaryFolder()
  const status = { clientCertificateData: 'cert', clientKeyData: 'key' }
  const exec = { apiVersion: V1, command: plugin(folder, credential(status)) }
  const { tls } = await openAccess(readKubeconfig(kubeconfigOf({ exec }, CLUSTER, folder)))
  expect(tls).toEqual({ cert: 'cert', key: 'key' })
})

test.each([
  ['of another version', { apiVersion: 'x/v9' }, '{}', 0, 'has apiVersion "x/v9"'],
  ['without a credential', {}, credential({}), 0, 'returned neither a token nor a certificate with its key'],
  ['with other output', {}, 'secret-output', 0, 'did not return an ExecCredential of client.authentication.k8s.io/v1'],
  ['that fails', {}, 'secret-output', 3, 'ended with code 3'],
  ['that does not exist', { command: './none', installHint: 'install it' }, '', 0, 'ENOENT; install it'],
])('a credential plugin %s is an error that quotes none of its output', async (_, members, text, code, message) => {
  const folder = temporaryFolder()
  const exec = { apiVersion: V1, command: plugin(folder, text, code), ...members }
  const opened = openAccess(readKubeconfig(kubeconfigOf({ exec }, CLUSTER, folder)))
  await expect(opened).rejects.toThrow(message)
  await expect(opened).rejects.not.toThrow('secret-output')
})

test.each([
  ['a context that does not exist', 'other', {}, CLUSTER, 'has no context "other"; it has work, nobody, broken'],
  ['a context without its cluster', 'broken', {}, CLUSTER, 'has no cluster "two"; it has one'],
  [
    'a proxy',
    'work',
    {},
    { ...CLUSTER, 'proxy-url': 'http://p' },
    'the kubeconfig has proxy-url, which is not supported; run "kubectl proxy"',
  ],
  [
    'an old plugin',
    'work',
    { 'auth-provider': { name: 'oidc' } },
    CLUSTER,
    'has auth-provider, which is not supported',
  ],
  [
    'no HTTPS',
    'work',
    { token: 'abc' },
    { server: 'http://kube' },
    'is not HTTPS, so the credentials of the kubeconfig are not sent',
  ],
  ['no address', 'work', {}, {}, 'the address of the API, "", is not a URL'],
  ['a missing file', 'work', { tokenFile: 'none' }, CLUSTER, 'none cannot be read: ENOENT'],
])('a kubeconfig with %s', async (_, context, user, cluster, message) => {
  const open = async () => openAccess(readKubeconfig(kubeconfigOf(user, cluster), context))
  await expect(open()).rejects.toThrow(message)
})

test('a context without user has no credentials', async () => {
  const { headers } = await openAccess(readKubeconfig(kubeconfigOf({ token: 'abc' }), 'nobody'))
  expect(headers).toEqual({})
})

test('a kubeconfig that is not YAML is named with its line, and not quoted', () => {
  const file = join(temporaryFolder(), 'config')
  writeFileSync(file, 'users:\n- token: "secret-token\n')
  expect(() => readKubeconfig(file)).toThrow(/config:\d+ is not valid YAML$/)
})

test('a client certificate authenticates, and the server is checked against the authority', async () => {
  await using server = await startJsonServer({ ...CERTIFICATES.server, requestCert: true, rejectUnauthorized: false })
  server.answer = (_, response) =>
    answerJson(response, { name: (response.req.socket as TLSSocket).getPeerCertificate().subject.CN })
  const user = {
    'client-certificate-data': base64(CERTIFICATES.client.cert),
    'client-key-data': base64(CERTIFICATES.client.key),
  }
  const read = async (authority: object) => {
    const cluster = {
      server: `https://127.0.0.1:${server.port}/prefix/`,
      'tls-server-name': 'server.test',
      ...authority,
    }
    using client = new ApiClient(await openAccess(readKubeconfig(kubeconfigOf(user, cluster))))
    return await client.get('/api')
  }
  const trusted = { 'certificate-authority-data': base64(CERTIFICATES.ca) }
  expect((await read(trusted)).body).toEqual({ name: CLIENT_NAME })
  expect(server.seen.map(({ path }) => path)).toEqual(['/prefix/api'])
  await expect(read({})).rejects.toThrow(/cannot be read: .*certificate/)
})

const CLIENT_NAME = 'client.test'

test('the token of a gateway is not sent to another server', async () => {
  const localKubeconfig = kubeconfigOf({ token: 'abc' })
  const open = (server: string | undefined) =>
    connect({ server, kubeconfig: undefined, context: undefined, localKubeconfig })
  using client = await open('https://kube.example:6443')
  expect(client.server).toBe('https://kube.example:6443')
  await expect(open('https://other.example')).rejects.toThrow('is for https://kube.example:6443/; name the kubeconfig')
  const without = {
    server: undefined,
    kubeconfig: undefined,
    context: undefined,
    localKubeconfig: kubeconfigOf({}, {}),
  }
  await expect(connect(without)).rejects.toThrow('the address of the API, "", is not a URL')
})
